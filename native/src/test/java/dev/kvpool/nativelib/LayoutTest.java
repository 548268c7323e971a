// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.StructLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Structs and constants of the Java side against those of the C compiler, in both directions. */
class LayoutTest {
    private static final Map<String, Long> C = AbiDump.run();

    @Test
    void structsAreTheStructsOfTheHeader() {
        Map<String, Long> c = only(name -> name.startsWith("sizeof.") || name.startsWith("offsetof."));

        assertThat(c).hasSizeGreaterThan(100);
        assertThat(describe(Layouts.ALL)).isEqualTo(c);
    }

    @Test
    void aSwapOfTwoFieldsIsFound() {
        StructLayout swapped = MemoryLayout.structLayout(
                        JAVA_INT.withName("struct_size"),
                        JAVA_INT.withName("flags"),
                        JAVA_INT.withName("replicas"),
                        JAVA_INT.withName("timeout_ms"),
                        JAVA_LONG.withName("nodes"))
                .withName("kv_batch_options");

        Map<String, Long> java = describe(List.of(swapped));

        assertThat(java.keySet()).allSatisfy(name -> assertThat(C).containsKey(name));
        assertThat(java).isNotEqualTo(only(name -> name.contains(".kv_batch_options")));
    }

    @Test
    void statusesAreThoseOfTheHeader() {
        Map<String, Long> statuses = Arrays.stream(Status.values())
                .collect(Collectors.toMap(status -> "value." + status.nativeName(), status -> (long) status.code()));
        Map<String, Long> c = only(name -> name.startsWith("value.") && (C.get(name) < 0 || name.endsWith(".KV_OK")));

        assertThat(c).hasSizeGreaterThan(20);
        assertThat(statuses).isEqualTo(c);
    }

    @Test
    void otherConstantsAreThoseOfTheHeader() {
        Map<String, Long> java = Map.ofEntries(
                Map.entry("value.KV_KEY_BYTES_MAX", (long) NativeClient.KEY_BYTES_MAX),
                Map.entry("value.KV_BATCH_MAX", (long) NativeClient.BATCH_MAX),
                Map.entry("value.KV_SEGMENT_BYTES_MIN", NativeNode.SEGMENT_BYTES_MIN),
                Map.entry("value.KV_SEGMENT_BYTES_MAX", NativeNode.SEGMENT_BYTES_MAX),
                Map.entry("value.KV_NODE_STAGING_BYTES", NativeNode.STAGING_BYTES),
                Map.entry("value.KV_PROTOCOL_TCP", (long) Protocol.TCP.bit()),
                Map.entry("value.KV_PROTOCOL_SHM", (long) Protocol.SHM.bit()),
                Map.entry("value.KV_PROTOCOL_UCX", (long) Protocol.UCX.bit()),
                Map.entry("value.KV_PROTOCOL_ASCEND", (long) Protocol.ASCEND.bit()),
                Map.entry("value.KV_NODE_NO_PREFAULT", (long) NodeParameters.NO_PREFAULT),
                Map.entry("value.KV_NODE_LOCK_MEMORY", (long) NodeParameters.LOCK_MEMORY),
                Map.entry("value.KV_NODE_TRUSTED_FABRIC", (long) NodeParameters.TRUSTED_FABRIC),
                Map.entry("value.KV_OP_PUT", (long) OpCode.PUT.code()),
                Map.entry("value.KV_OP_GET", (long) OpCode.GET.code()),
                Map.entry("value.KV_OP_EXISTS", (long) OpCode.EXISTS.code()),
                Map.entry("value.KV_OP_REMOVE", (long) OpCode.REMOVE.code()),
                Map.entry("value.KV_BATCH_FORCE", (long) OpCode.FLAG_FORCE),
                Map.entry("value.KV_AGENT_STAGING_BYTES", NativeAgent.STAGING_BYTES),
                Map.entry("value.KV_AGENT_CLIENTS_MAX", (long) NativeAgent.CLIENTS_MAX));
        Map<String, Long> c = only(name -> name.startsWith("value.") && C.get(name) > 0);

        assertThat(java).isEqualTo(c);
    }

    private static Map<String, Long> only(Predicate<String> wanted) {
        return C.entrySet().stream()
                .filter(entry -> wanted.test(entry.getKey()))
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    private static Map<String, Long> describe(List<StructLayout> structs) {
        Map<String, Long> facts = new TreeMap<>();
        for (StructLayout struct : structs) {
            String type = struct.name().orElseThrow();
            facts.put("sizeof." + type, struct.byteSize());
            for (MemoryLayout member : struct.memberLayouts()) {
                String field = type + "." + member.name().orElseThrow();
                facts.put(
                        "offsetof." + field,
                        struct.byteOffset(PathElement.groupElement(member.name().orElseThrow())));
                facts.put("sizeof." + field, member.byteSize());
            }
        }
        return facts;
    }
}
