// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** What a call into libkvpool costs a caller in Java, apart from the work it asks for. Run by {@code make bench WHAT=crossing}. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class CrossingBenchmark {
    /** Lines of a batch; a batch crosses the border once, whatever their number. */
    @Param({"1", "32"})
    public int lines;

    private List<String> keys;

    @Setup
    public void start() {
        keys = IntStream.range(0, lines).mapToObj("block-%058d"::formatted).toList();
    }

    /** The table of a batch of puts with keys of 64 bytes and values of 4 KiB, filled and not handed over. */
    @Benchmark
    public long table() {
        try (Arena batch = Arena.ofConfined()) {
            OpTable table = new OpTable(batch, keys);
            for (int i = 0; i < lines; i++) {
                table.source(i, VALUE);
            }
            return table.address();
        }
    }

    /** A struct filled by the library and read field by field. */
    @Benchmark
    public NativeVersions struct() {
        return NativeVersions.load();
    }

    private static final byte[] VALUE = "v".repeat(4096).getBytes(StandardCharsets.US_ASCII);
}
