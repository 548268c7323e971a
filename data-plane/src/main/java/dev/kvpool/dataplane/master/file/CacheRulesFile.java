// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.file;

import dev.kvpool.dataplane.config.TenantAmounts;
import dev.kvpool.dataplane.config.UsageException;
import dev.kvpool.dataplane.master.core.base.CacheRules;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Rules of the cache in a file that its owner may replace at any time, as {@link CacheRulesText} says. */
public final class CacheRulesFile {
    private static final int BYTES_MAX = 64 << 10;
    private static final int DIGEST_BYTES = 8;
    private static final int PROBLEMS_TOLD = 5;
    private static final Pattern UUID_TEXT = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

    /** No write takes that long. */
    private static final Duration LEFT_OVER_AFTER = Duration.ofHours(1);

    /**
     * What the file said at one time.
     *
     * @param digest of its bytes, 16 hexadecimal digits
     */
    public record Version(String digest, CacheRules rules) {}

    private final Path file;
    private final CacheRules start;
    private String last = "";

    /** @param start what a rule is that the file does not name */
    public CacheRulesFile(Path file, CacheRules start) {
        this.file = file;
        this.start = start;
    }

    /**
     * What the file says when that differs from what it said when it was read last without a problem. One that was never
     * there says nothing.
     *
     * @throws IOException when it cannot be read, is not whole, or any line of it is wrong; the message names it
     */
    public Optional<Version> readIfChanged() throws IOException {
        Optional<byte[]> bytes = bytes();
        if (bytes.isEmpty()) {
            return Optional.empty();
        }
        String digest = digest(bytes.get());
        if (digest.equals(last)) {
            return Optional.empty();
        }
        try {
            Version version = new Version(digest, CacheRulesText.parse(text(bytes.get()), start));
            last = digest;
            return Optional.of(version);
        } catch (UsageException e) {
            throw new IOException("the file of cache rules " + file + ": " + told(e), e);
        }
    }

    /**
     * Replaces what the file says of quotas; all else in it stays, and it is made when it is not there.
     *
     * @throws IllegalArgumentException when the quotas are none
     * @throws IOException when it cannot be read or written
     */
    public void write(Map<String, TenantAmounts> quotas) throws IOException {
        String line = CacheRulesText.quotas(quotas);
        Optional<byte[]> before = bytes();
        String changed = CacheRulesText.with(before.isEmpty() ? "" : text(before.get()), line);
        try {
            CacheRulesText.parse(changed, start);
        } catch (UsageException e) {
            throw new IllegalArgumentException(told(e), e);
        }
        deleteLeftOvers();
        // Of this write alone: a leader that was deposed may still write. On the disk before the name points at it.
        Path next = file.resolveSibling(file.getFileName() + "." + UUID.randomUUID());
        try {
            Files.writeString(
                    next, changed, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, StandardOpenOption.SYNC);
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            Files.deleteIfExists(next);
        }
        try (FileChannel name = FileChannel.open(folder())) {
            name.force(true); // else a power cut takes back what was answered
        }
    }

    private Path folder() {
        return file.toAbsolutePath().getParent();
    }

    /** Of masters that were killed in the middle of a write. What another master deletes, or what cannot be deleted, keeps no change out. */
    private void deleteLeftOvers() {
        Instant before = Instant.now().minus(LEFT_OVER_AFTER);
        try (DirectoryStream<Path> writes = Files.newDirectoryStream(
                folder(), path -> isOfAWrite(path.getFileName().toString()))) {
            for (Path write : writes) {
                if (Files.getLastModifiedTime(write).toInstant().isBefore(before)) {
                    Files.deleteIfExists(write);
                }
            }
        } catch (IOException | DirectoryIteratorException _) {
            // The next write tries again.
        }
    }

    private boolean isOfAWrite(String name) {
        String prefix = file.getFileName() + ".";
        return name.startsWith(prefix)
                && UUID_TEXT.matcher(name.substring(prefix.length())).matches();
    }

    /** The first of the problems: they end up in a log and in a status. */
    private static String told(UsageException e) {
        return e.problems().stream().limit(PROBLEMS_TOLD).collect(Collectors.joining("; "));
    }

    private Optional<byte[]> bytes() throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = in.readNBytes(BYTES_MAX + 1);
            if (bytes.length > BYTES_MAX) {
                throw new IOException("the file of cache rules " + file + " is larger than " + BYTES_MAX + " bytes");
            }
            return Optional.of(bytes);
        } catch (NoSuchFileException e) {
            if (last.isEmpty()) {
                return Optional.empty();
            }
            throw new IOException("the file of cache rules " + file + " is not there any more", e);
        }
    }

    private String text(byte[] bytes) throws IOException {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new IOException("the file of cache rules " + file + " is not UTF-8", e);
        }
    }

    private static String digest(byte[] bytes) {
        try {
            byte[] sum = MessageDigest.getInstance("SHA-256").digest(bytes);
            return HexFormat.of().formatHex(sum, 0, DIGEST_BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
