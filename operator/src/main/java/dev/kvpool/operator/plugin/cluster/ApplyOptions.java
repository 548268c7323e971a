// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.cluster;

import dev.kvpool.operator.plugin.failure.PluginException;
import java.util.Optional;
import picocli.CommandLine.Option;

/** How a file would be applied, by the options of kubectl apply; as the object was applied last where there are none. */
public final class ApplyOptions {
    static final String KUBECTL = "kubectl";

    @Option(
            names = "--server-side",
            description = "As kubectl apply --server-side would; otherwise as the object was applied last.")
    private boolean serverSide;

    @Option(
            names = "--field-manager",
            paramLabel = "NAME",
            description = "With --server-side: the field manager that applies the file; kubectl otherwise.")
    private String manager;

    @Option(
            names = "--force-conflicts",
            description = "With --server-side: takes over fields that another field manager has set.")
    private boolean force;

    public ApplyOptions() {}

    ApplyOptions(String manager, boolean force) {
        this.serverSide = true;
        this.manager = manager;
        this.force = force;
    }

    /** Refuses options that would do nothing. */
    public void check(boolean hasFile) {
        if (!serverSide && (manager != null || force)) {
            throw new PluginException("--field-manager and --force-conflicts need --server-side");
        }
        if (serverSide && !hasFile) {
            throw new PluginException("--server-side is about a file: name one with --engine or --pool");
        }
    }

    /** The field manager of a server-side apply; empty where none is asked for. */
    Optional<String> manager() {
        return serverSide ? Optional.of(manager == null ? KUBECTL : manager) : Optional.empty();
    }

    boolean force() {
        return force;
    }
}
