// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import dev.kvpool.nativelib.jna.JnaKvLibrary;

/** The one libkvpool of this process: loaded at first use and only used when it speaks our ABI. */
final class LoadedLibrary {
    /** The ABI this binding was written for: KV's functions and structs as in {@link Layouts}. */
    static final int ABI_VERSION = 1;

    private static KvLibrary loaded;

    private LoadedLibrary() {}

    static synchronized KvLibrary get() {
        if (loaded == null) {
            loaded = requireOurAbi(JnaKvLibrary.load());
        }
        return loaded;
    }

    static KvLibrary requireOurAbi(KvLibrary library) {
        int speaks = library.abiVersion();
        if (speaks != ABI_VERSION) {
            throw new KvException(
                    Status.TOO_OLD,
                    library.origin() + " speaks ABI " + Integer.toUnsignedString(speaks) + ", this kvpool needs ABI "
                            + ABI_VERSION + ". Use the library and the jars of one release; a -Djna.library.path may"
                            + " point to an old one.");
        }
        return library;
    }
}
