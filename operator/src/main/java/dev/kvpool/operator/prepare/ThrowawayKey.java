// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.prepare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * A key and its certificate for one server, signed by an authority of its own as a cluster's are, and made by Java's own tool: Java has no
 * public class that makes certificates.
 */
public final class ThrowawayKey {
    private static final String AUTHORITY = "authority";

    private final byte[] store;
    private final String password;

    private ThrowawayKey(byte[] store, String password) {
        this.store = store;
        this.password = password;
    }

    /** A PKCS #12 key store with one key, whose chain ends with the authority. */
    public byte[] store() {
        return store.clone();
    }

    /** Of the store and of the key. */
    public String password() {
        return password;
    }

    /**
     * Makes one.
     *
     * @param algorithm EC or RSA; as long as clusters' keys
     */
    public static ThrowawayKey make(String address, String algorithm) throws IOException {
        Path directory = Files.createTempDirectory("kvpool-operator-prepare-");
        Path store = directory.resolve("key.p12");
        String password = UUID.randomUUID().toString();
        try {
            boolean ec = algorithm.equals("EC");
            List<String> key = List.of(
                    "-genkeypair", "-keyalg", algorithm, ec ? "-groupname" : "-keysize", ec ? "secp256r1" : "2048");
            run(store, password, key, "-alias", AUTHORITY, "-dname", "CN=" + AUTHORITY, "-ext", "bc:c");
            run(
                    store,
                    password,
                    key,
                    "-alias",
                    "server",
                    "-signer",
                    AUTHORITY,
                    "-dname",
                    "CN=" + address,
                    "-ext",
                    "san=ip:" + address);
            // Its key is not needed again, and a server would have to choose between the two.
            run(store, password, List.of("-delete"), "-alias", AUTHORITY);
            return new ThrowawayKey(Files.readAllBytes(store), password);
        } finally {
            Files.deleteIfExists(store);
            Files.delete(directory);
        }
    }

    private static void run(Path store, String password, List<String> command, String... arguments) throws IOException {
        String tool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
        List<String> line = new ArrayList<>(List.of(tool));
        line.addAll(command);
        line.addAll(List.of(arguments));
        line.addAll(List.of("-storetype", "PKCS12", "-keystore", store.toString(), "-storepass", password));
        Process process = new ProcessBuilder(line)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            int status = process.waitFor();
            if (status != 0) {
                throw new IOException(tool + " ended with status " + status);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            process.destroy();
            throw new IOException("interrupted", e);
        }
    }
}
