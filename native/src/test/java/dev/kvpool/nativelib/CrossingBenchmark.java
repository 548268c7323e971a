// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
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
import org.openjdk.jmh.annotations.TearDown;

/** What a call into libkvpool costs a caller in Java, apart from the work it asks for. Run by {@code make bench WHAT=crossing}. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class CrossingBenchmark {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    /** Lines of a batch; a batch crosses the border once, whatever their number. */
    @Param({"1", "32"})
    public int lines;

    private final Arena arena = Arena.ofShared();
    private NativeEngine engine;
    private List<Transfer> refused;
    private List<String> keys;

    @Setup
    public void start() {
        engine = NativeEngine.start(EngineParameters.standard().listeningOn("127.0.0.1"));
        MemorySegment local = arena.allocate(4096);
        // No peer can have this name, so a line is answered where it is checked: nothing but the way there and back is
        // timed.
        refused = Collections.nCopies(lines, new Transfer("no peer", local, 1));
        keys = IntStream.range(0, lines).mapToObj("block-%058d"::formatted).toList();
        if (!engine.write(refused, TIMEOUT).equals(Collections.nCopies(lines, Status.INVALID_ARGUMENT))) {
            throw new IllegalStateException("the transfers were not refused");
        }
    }

    @TearDown
    public void stop() {
        engine.close();
        arena.close();
    }

    /** A batch handed over, waited for, and read back, through the engine's own thread. */
    @Benchmark
    public List<Status> batch() {
        return engine.write(refused, TIMEOUT);
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
    public EngineStats struct() {
        return engine.stats();
    }

    private static final byte[] VALUE = "v".repeat(4096).getBytes(StandardCharsets.US_ASCII);
}
