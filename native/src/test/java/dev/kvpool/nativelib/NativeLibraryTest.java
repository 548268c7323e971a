// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Pointer;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The real library from the class path, as the jar has it. */
class NativeLibraryTest {
    private static final KvLibrary LIBRARY = LoadedLibrary.get();

    @Test
    void speaksTheAbiOfThisBinding() {
        NativeVersions versions = NativeVersions.load();

        assertThat(LIBRARY.abiVersion()).isEqualTo(LoadedLibrary.ABI_VERSION);
        assertThat(versions.abi()).isEqualTo(new VersionRange(1, 1));
        assertThat(versions.wire()).isEqualTo(new VersionRange(1, 1));
        assertThat(versions.layout()).isEqualTo(new VersionRange(1, 1));
    }

    @Test
    void saysWhatIsLinkedIn() {
        assertThat(NativeVersions.sbom())
                .startsWith("{\"bomFormat\":\"CycloneDX\"")
                .contains("\"name\":\"OpenSSL\"", "\"name\":\"libstdc++\"")
                .endsWith("}\n");
    }

    @ParameterizedTest
    @EnumSource
    void namesEachStatusAsJavaDoes(Status status) {
        assertThat(text(LIBRARY.statusName(status.code()))).isEqualTo(status.nativeName());
        assertThat(text(LIBRARY.statusText(status.code()))).isEqualTo(status.text());
    }

    @Test
    void refusesALogLevelOutOfRange() {
        assertThat(LIBRARY.logLevel(5)).isEqualTo(Status.INVALID_ARGUMENT.code());
        assertThat(LIBRARY.logLevel(-1)).isEqualTo(Status.INVALID_ARGUMENT.code());
        assertThat(LIBRARY.logLevel(2)).isEqualTo(Status.OK.code());
    }

    @Test
    void refusesAStructLargerThanItKnows() {
        try (Arena arena = Arena.ofConfined()) {
            Struct versions = new Struct(arena, Layouts.VERSIONS).u32("struct_size", 4096);

            assertThat(LIBRARY.getVersions(versions.address())).isEqualTo(Status.INVALID_ARGUMENT.code());
        }
    }

    private static String text(long address) {
        return new Pointer(address).getString(0, "UTF-8");
    }
}
