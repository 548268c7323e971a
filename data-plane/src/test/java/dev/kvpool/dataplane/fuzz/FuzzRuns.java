// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.fuzz;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Gives a reader wrong bytes, again and again: it may read them or refuse them in its own way, throws nothing else, and allocates
 * no more than a multiple of what it was given. A failure names its seed; {@code -Dkvpool.fuzz.seed=N} runs that one alone,
 * {@code -Dkvpool.fuzz.runs=N} runs more of them.
 */
public final class FuzzRuns {
    private static final int RUNS = Integer.getInteger("kvpool.fuzz.runs", 20_000);
    private static final Long ONE_SEED = Long.getLong("kvpool.fuzz.seed");

    /** An exception with its stack, and what a reader needs whatever it reads. */
    private static final long ALLOCATED_ANYWAY = 64 << 10;

    private static final int INPUT_SHOWN_MAX = 4096;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** Reads bytes from strangers. */
    @FunctionalInterface
    public interface Reader {
        void read(byte[] input) throws Exception;
    }

    private final Mutation mutation;
    private final List<byte[]> samples;
    private final Class<? extends Exception> refusal;
    private long allocatedPerByteMax = 64;
    private int one = 1;

    /** What the last run allocated. */
    private long allocated;

    /**
     * @param samples right input, of every kind there is
     * @param refusal how wrong input is refused
     */
    public FuzzRuns(List<byte[]> samples, Class<? extends Exception> refusal) {
        this.samples = samples;
        this.mutation = new Mutation(samples);
        this.refusal = refusal;
    }

    /** For readers that make more of a byte than 64 of them. */
    public FuzzRuns allocating(long perByteMax) {
        allocatedPerByteMax = perByteMax;
        return this;
    }

    /** For slow readers: one run of so many. */
    public FuzzRuns oneOf(int many) {
        one = many;
        return this;
    }

    /**
     * Runs them all.
     *
     * @return how many inputs were read, the others were refused
     */
    public int run(Reader reader) {
        // The first call of anything loads classes.
        samples.forEach(sample -> outcome(reader, sample, 0));
        int read = 0;
        long first = ONE_SEED == null ? 1 : ONE_SEED;
        long end = ONE_SEED == null ? Math.max(1, RUNS / one) : ONE_SEED;
        for (long seed = first; seed <= end; seed++) {
            byte[] input = mutation.next(new SplittableRandom(seed));
            read += outcome(reader, input, seed) ? 1 : 0;
            if (allocated > bound(input)) {
                // Once more, as it may have been Java's own: classes, call sites.
                outcome(reader, input, seed);
                require(
                        allocated <= bound(input),
                        seed,
                        input,
                        allocated + " bytes allocated, at most " + bound(input),
                        null);
            }
        }
        return read;
    }

    private long bound(byte[] input) {
        return ALLOCATED_ANYWAY + allocatedPerByteMax * input.length;
    }

    private boolean outcome(Reader reader, byte[] input, long seed) {
        byte[] given = input.clone();
        long before = THREADS.getCurrentThreadAllocatedBytes();
        try {
            reader.read(given);
            return true;
        } catch (Throwable e) {
            require(refusal.isInstance(e), seed, input, e.toString(), e);
            return false;
        } finally {
            allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
        }
    }

    private static void require(boolean holds, long seed, byte[] input, String what, Throwable cause) {
        if (!holds) {
            String shown = HexFormat.of().formatHex(Arrays.copyOf(input, Math.min(input.length, INPUT_SHOWN_MAX)));
            throw new AssertionError(
                    "seed " + seed + " (run it alone with -Dkvpool.fuzz.seed=" + seed + "), " + input.length
                            + " bytes: " + what + "; they are " + shown,
                    cause);
        }
    }
}
