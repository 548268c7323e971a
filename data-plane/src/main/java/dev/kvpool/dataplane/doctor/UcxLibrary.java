// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.util.Map;

/**
 * Whether this process finds UCX where libkvpool's clients and nodes look for it.
 *
 * @param file name or path that is loaded
 * @param problem why it cannot be used; empty when it can
 */
record UcxLibrary(String file, String problem) {
    private static final String USUAL = "libucp.so.0";

    /** One that came with UCX 1.10, the oldest that serves. */
    private static final String NEWEST_FUNCTION = "ucp_ep_close_nbx";

    /**
     * Loads it, unless it would take over signals that belong to the JVM: it does so as soon as it is loaded, and is kept from it
     * by a variable that the command {@code kvpool} sets. Stays loaded, as it does in clients.
     *
     * @param environment of this process
     */
    static UcxLibrary look(Map<String, String> environment) {
        String named = environment.getOrDefault("KVPOOL_UCX_LIBRARY", "");
        String file = named.isEmpty() ? USUAL : named;
        if (!environment.getOrDefault("UCX_ERROR_SIGNALS", "unset").isEmpty()) {
            return new UcxLibrary(
                    file, "not looked at, as UCX would take signals of this JVM; set UCX_ERROR_SIGNALS to nothing");
        }
        try {
            return load(file).find(NEWEST_FUNCTION).isPresent()
                    ? new UcxLibrary(file, "")
                    : new UcxLibrary(file, file + " has no function " + NEWEST_FUNCTION);
        } catch (IllegalArgumentException e) {
            return new UcxLibrary(file, file + " cannot be loaded: " + e.getMessage());
        }
    }

    @SuppressWarnings("restricted") // runs what the library does when it is loaded
    private static SymbolLookup load(String file) {
        return SymbolLookup.libraryLookup(file, Arena.global());
    }
}
