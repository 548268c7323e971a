// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib.jna;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.nativelib.KvLibrary;
import dev.kvpool.nativelib.jna.Header.Prototype;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * JNA binds a native method by its name alone: a wrong number or width of arguments registers without complaint and then
 * corrupts. So the header's prototypes are compared with {@link KvFunctions} here.
 */
class PrototypeTest {
    private static final String HEADER = readHeader();

    @Test
    void nativeMethodsAreThePrototypesOfTheHeader() {
        assertThat(nativeMethods()).containsKeys("kv_abi_version", "kv_client_destroy");
        assertThat(Header.parse(HEADER).prototypes()).containsAllEntriesOf(nativeMethods());
    }

    @Test
    void everyFunctionIsReachableThroughTheInterface() {
        List<String> names = Arrays.stream(KvLibrary.class.getMethods())
                .map(method ->
                        "kv_" + method.getName().replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT))
                .filter(name -> !name.equals("kv_origin"))
                .toList();

        assertThat(names).containsExactlyInAnyOrderElementsOf(nativeMethods().keySet());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    an argument more    | kv_client_wait(kv_client *client, uint64_t batch,      | kv_client_wait(kv_client *client, uint32_t extra, uint64_t batch,
                    an argument less    | kv_log_level(int32_t level)                            | kv_log_level(void)
                    a narrower argument | kv_log_level(int32_t level)                            | kv_log_level(int64_t level)
                    a value, no pointer | kv_get_versions(kv_versions *out)                      | kv_get_versions(uint32_t out)
                    another result      | KV_API uint32_t kv_abi_version                         | KV_API uint64_t kv_abi_version
                    another name        | kv_node_get_stats(                                     | kv_node_read_stats(
                    """)
    void aDifferenceIsFound(String what, String original, String doctored) {
        assertThat(HEADER).as(what).contains(original);

        Map<String, Prototype> header =
                Header.parse(HEADER.replace(original, doctored)).prototypes();

        assertThat(nativeMethods().entrySet())
                .as(what)
                .isNotEmpty()
                .anySatisfy(method -> assertThat(header).doesNotContain(method));
    }

    @Test
    void aTypeOfUnknownWidthIsRefused() {
        String doctored = HEADER.replace("kv_log_level(int32_t level)", "kv_log_level(long level)");

        assertThatThrownBy(() -> Header.parse(doctored)).hasMessageContaining("long level");
    }

    private static Map<String, Prototype> nativeMethods() {
        Map<String, Prototype> methods = new TreeMap<>();
        for (Method method : KvFunctions.class.getDeclaredMethods()) {
            if (Modifier.isNative(method.getModifiers())) {
                List<Integer> arguments = Arrays.stream(method.getParameterTypes())
                        .map(PrototypeTest::width)
                        .toList();
                methods.put(method.getName(), new Prototype(width(method.getReturnType()), arguments));
            }
        }
        return methods;
    }

    private static int width(Class<?> type) {
        if (type == void.class) {
            return 0;
        }
        return type == int.class ? Integer.BYTES : Long.BYTES;
    }

    private static String readHeader() {
        try {
            Path headers = Path.of(System.getProperty("kvpool.headers"));
            return Files.readString(headers.resolve("kvpool.h"))
                    + Files.readString(headers.resolve("agent.h"))
                    + Files.readString(headers.resolve("sbom.h"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
