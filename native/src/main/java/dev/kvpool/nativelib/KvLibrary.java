// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

/**
 * The functions of kvpool.h, agent.h and sbom.h that Java calls, one method each, with every pointer as an address. No type of the binding technology shows
 * here, so that another one could stand behind it and tests can put a hand-written library in its place.
 *
 * <p>Only this package calls it; everyone else uses {@link NativeNode}, {@link NativeAgent}, {@link NativeClient}
 * and {@link NativeVersions}, which check arguments and keep addresses alive.
 */
public interface KvLibrary {
    int abiVersion();

    int getVersions(long out);

    String sbom();

    /** Address of static NUL-terminated UTF-8. */
    long statusName(int status);

    /** Address of static NUL-terminated UTF-8. */
    long statusText(int status);

    int logLevel(int level);

    int nodeStart(long params, long out, long error, int errorSize);

    int nodeGetStats(long node, long out);

    int nodeExplain(long node, long out, int outSize);

    void nodeDestroy(long node);

    int clientCreate(long params, long out, long error, int errorSize);

    int clientSubmit(long client, int opCode, long table, int count, long options, long batchOut);

    int clientWait(long client, long batch, int timeoutMs);

    int clientExplain(long client, long out, int outSize);

    void clientDestroy(long client);

    int agentStart(long params, long out, long error, int errorSize);

    int agentGetStats(long agent, long out);

    int agentExplain(long agent, long out, int outSize);

    void agentDestroy(long agent);

    /** Where the library came from, for error messages. */
    String origin();
}
