// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import dev.kvpool.dataplane.master.core.base.Action;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Appends a line to a file for each object that a master evicts, with one write for a turn of its loop and before the turn sends
 * anything: what a node was told to free is in the file, however the master ends. A full file becomes FILE.1, in the place
 * of the one before. Evictions go on when the file cannot be written; it then tells how many lines it lacks.
 */
final class EvictionLog implements AutoCloseable {
    /**
     * Where it is and how long it may get.
     *
     * @param bytesMax after which another file is begun; a file is longer by one turn's lines at most
     */
    record Place(Path file, long bytesMax) {
        public Place {
            if (bytesMax <= 0) {
                throw new IllegalArgumentException("an eviction log needs room, not " + bytesMax + " bytes");
            }
        }

        Path previous() {
            return file.resolveSibling(file.getFileName() + ".1");
        }
    }

    static final long RETRY_NS = TimeUnit.SECONDS.toNanos(1);
    private static final Logger LOG = LoggerFactory.getLogger(EvictionLog.class);

    private final Place place;
    private final LongSupplier monotonicNs;
    private final EvictionLines lines;

    /** Null while the file cannot be written. */
    private FileChannel channel;

    private long missing;
    private long retryAtNs;

    private EvictionLog(Place place, InstantSource clock, LongSupplier monotonicNs) {
        this.place = place;
        this.monotonicNs = monotonicNs;
        lines = new EvictionLines(clock, monotonicNs);
    }

    /**
     * Opens the file, or makes it; what it holds stays.
     *
     * @param monotonicNs a clock that nobody sets
     * @throws IOException when it cannot be written or another process writes to it; the message names it
     */
    static EvictionLog open(Place place, InstantSource clock, LongSupplier monotonicNs) throws IOException {
        EvictionLog log = new EvictionLog(place, clock, monotonicNs);
        log.channel = openChannel(place.file());
        return log;
    }

    /** Writes down what is evicted among these actions, which must not have been carried out yet. */
    void write(List<Action> actions) {
        for (Action action : actions) {
            if (action instanceof Action.Evicted evicted) {
                lines.add(evicted);
            }
        }
        int count = lines.count();
        if (count > 0) {
            append(count, lines.take());
        }
    }

    @Override
    public void close() throws IOException {
        if (channel != null) {
            channel.close();
        }
    }

    private void append(int count, ByteBuffer text) {
        if (channel == null && monotonicNs.getAsLong() - retryAtNs < 0) {
            missing += count;
            return;
        }
        try {
            if (channel == null) {
                goOn();
            }
            if (channel.size() > 0 && channel.size() + text.remaining() > place.bytesMax()) {
                beginAnother();
            }
            writeFully(channel, text);
        } catch (IOException e) {
            giveUpForNow(count, e);
        }
    }

    private void goOn() throws IOException {
        channel = openChannel(place.file());
        writeFully(channel, lines.missing(missing));
        LOG.warn("the eviction log {} is written again; it lacks {} evictions", place.file(), missing);
        missing = 0;
    }

    private void beginAnother() throws IOException {
        Files.move(place.file(), place.previous(), StandardCopyOption.ATOMIC_MOVE);
        channel.close();
        channel = openChannel(place.file());
    }

    private void giveUpForNow(int count, IOException why) {
        if (missing == 0) {
            LOG.warn("cannot write the eviction log {}, objects are evicted without: {}", place.file(), why.toString());
        }
        missing += count;
        retryAtNs = monotonicNs.getAsLong() + RETRY_NS;
        try {
            close();
        } catch (IOException e) {
            why.addSuppressed(e); // it is given up anyway
        }
        channel = null;
    }

    /** To go on at the end of the file, on a line of its own: who wrote before may have been killed within one. */
    private static FileChannel openChannel(Path file) throws IOException {
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            throw new IOException("the eviction log " + file + " is no regular file; name another one");
        }
        FileChannel channel;
        boolean endsALine;
        try {
            // Before the lock is taken: a process loses its locks on a file when it closes it anywhere.
            endsALine = endsALine(file);
            channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new IOException("cannot write the eviction log " + file + ": " + e + "; is its directory there?", e);
        }
        try {
            lock(channel, file);
            if (!endsALine) {
                writeFully(channel, ByteBuffer.wrap(new byte[] {'\n'}));
            }
            return channel;
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /** Two masters with one file would take each other's lines away with the first file that is full. */
    private static void lock(FileChannel channel, Path file) throws IOException {
        FileLock lock;
        try {
            lock = channel.tryLock();
        } catch (OverlappingFileLockException e) {
            lock = null;
        }
        if (lock == null) {
            throw new IOException("another process writes to the eviction log " + file + "; each master needs its own");
        }
    }

    private static boolean endsALine(Path file) throws IOException {
        if (!Files.exists(file) || Files.size(file) == 0) {
            return true;
        }
        try (FileChannel channel = FileChannel.open(file)) {
            ByteBuffer last = ByteBuffer.allocate(1);
            return channel.read(last, channel.size() - 1) < 1 || last.get(0) == '\n';
        }
    }

    private static void writeFully(FileChannel channel, ByteBuffer text) throws IOException {
        while (text.hasRemaining()) {
            channel.write(text);
        }
    }
}
