// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import java.lang.foreign.Arena;

/** The versions that libkvpool understands: of the wire, of segment files, and of its own C ABI. */
public record NativeVersions(VersionRange wire, VersionRange layout, VersionRange abi) {

    /**
     * Asks the library, loading it when this is the first use.
     *
     * @throws KvException KV_TOO_OLD when it cannot be loaded or is of another release
     */
    public static NativeVersions load() {
        return read(LoadedLibrary.get());
    }

    /** What code of other projects is linked into the library, in CycloneDX JSON. */
    public static String sbom() {
        return LoadedLibrary.get().sbom();
    }

    static NativeVersions read(KvLibrary library) {
        try (Arena arena = Arena.ofConfined()) {
            Struct versions = new Struct(arena, Layouts.VERSIONS);
            int status = library.getVersions(versions.address());
            if (status != Status.OK.code()) {
                throw ErrorText.failure("cannot read the versions of " + library.origin(), status);
            }
            return new NativeVersions(range(versions, "wire"), range(versions, "layout"), range(versions, "abi"));
        }
    }

    private static VersionRange range(Struct versions, String name) {
        return new VersionRange(versions.u32(name + "_min"), versions.u32(name + "_max"));
    }
}
