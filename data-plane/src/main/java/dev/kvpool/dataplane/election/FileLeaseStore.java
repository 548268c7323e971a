// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kvpool.dataplane.register.RegisterText;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The Lease as a JSON file, for pools without Kubernetes. Updates compare and swap under a lock on a file beside it, and
 * replace the file whole, so that a reader never sees half of it. Not flushed to disk: it lies on tmpfs, and leadership
 * does not outlive the machine.
 */
public final class FileLeaseStore implements LeaseStore {
    /** A file lock is held by the whole process; masters in one process need one more. */
    private static final Map<Path, ReentrantLock> IN_PROCESS = new ConcurrentHashMap<>();

    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path file;
    private final Path lockFile;
    private final ReentrantLock inProcess;

    public FileLeaseStore(Path file) {
        this.file = file.toAbsolutePath().normalize();
        this.lockFile = this.file.resolveSibling(this.file.getFileName() + ".lock");
        this.inProcess = IN_PROCESS.computeIfAbsent(this.file, any -> new ReentrantLock());
    }

    @Override
    public Optional<Stored> read() throws LeaseStoreException {
        byte[] bytes;
        try {
            bytes = Files.readAllBytes(file);
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw new LeaseStoreException("cannot read the Lease file " + file + ": " + e, e);
        }
        return Optional.of(parse(bytes));
    }

    @Override
    public Optional<Stored> create(LeaseRecord lease) throws LeaseStoreException {
        return swap(lease, Optional.empty());
    }

    @Override
    public Optional<Stored> update(LeaseRecord lease, String version) throws LeaseStoreException {
        return swap(lease, Optional.of(version));
    }

    private Optional<Stored> swap(LeaseRecord lease, Optional<String> expected) throws LeaseStoreException {
        inProcess.lock();
        try (FileChannel channel = FileChannel.open(lockFile, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            channel.lock(); // until the channel is closed
            Optional<Stored> present = read();
            if (!present.map(Stored::version).equals(expected)) {
                return Optional.empty();
            }
            long version = expected.isEmpty() ? 1 : Long.parseLong(expected.get()) + 1;
            Stored next = new Stored(lease, Long.toString(version));
            Path fresh = file.resolveSibling(file.getFileName() + ".new");
            Files.write(fresh, format(next));
            Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            return Optional.of(next);
        } catch (IOException e) {
            throw new LeaseStoreException("cannot write the Lease file " + file + ": " + e, e);
        } finally {
            inProcess.unlock();
        }
    }

    @Override
    public String place() {
        return "file://" + file;
    }

    @Override
    public void close() {
        // Nothing is held between calls.
    }

    private static byte[] format(Stored stored) throws JsonProcessingException {
        LeaseRecord lease = stored.lease();
        ObjectNode root = JSON.createObjectNode();
        root.put("resourceVersion", stored.version());
        ObjectNode spec = root.putObject("spec");
        spec.put("holderIdentity", lease.holder());
        spec.put("leaseDurationSeconds", lease.durationSeconds());
        spec.put("acquireTime", lease.acquireTime().toString());
        spec.put("renewTime", lease.renewTime().toString());
        spec.put("leaseTransitions", lease.transitions());
        if (!lease.register().isLost()) {
            root.put("register", RegisterText.write(lease.register()));
        }
        return JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(root);
    }

    private Stored parse(byte[] bytes) throws LeaseStoreException {
        try {
            JsonNode root = JSON.readTree(bytes);
            JsonNode spec = root.path("spec");
            String version = root.path("resourceVersion").asText();
            boolean sound = version.matches("[0-9]{1,18}")
                    && spec.path("holderIdentity").isTextual()
                    && spec.path("leaseTransitions").isIntegralNumber()
                    && spec.path("leaseTransitions").asLong() >= 0
                    && spec.path("leaseDurationSeconds").canConvertToInt();
            if (!sound) {
                throw damaged(null);
            }
            LeaseRecord lease = new LeaseRecord(
                    spec.path("holderIdentity").asText(),
                    spec.path("leaseDurationSeconds").asInt(),
                    Instant.parse(spec.path("acquireTime").asText()),
                    Instant.parse(spec.path("renewTime").asText()),
                    spec.path("leaseTransitions").asLong(),
                    StoredRegister.read(root.path("register").asText(), place()));
            return new Stored(lease, version);
        } catch (IOException | DateTimeException e) {
            throw damaged(e);
        }
    }

    private LeaseStoreException damaged(Exception cause) {
        return new LeaseStoreException(
                "the Lease file " + file + " holds no Lease; remove it, and the masters make a new one", cause);
    }
}
