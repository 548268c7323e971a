// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.prepare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;

/** A key and its certificate for one server, made by Java's own tool: Java has no public class that makes certificates. */
public final class ThrowawayKey {
    private final byte[] store;
    private final String password;

    private ThrowawayKey(byte[] store, String password) {
        this.store = store;
        this.password = password;
    }

    /** A PKCS #12 key store. */
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
     * @param algorithm EC or RSA
     */
    public static ThrowawayKey make(String address, String algorithm) throws IOException {
        Path directory = Files.createTempDirectory("kvpool-operator-prepare-");
        Path store = directory.resolve("key.p12");
        String password = UUID.randomUUID().toString();
        try {
            run(
                    Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                    "-genkeypair",
                    "-keyalg",
                    algorithm,
                    "-dname",
                    "CN=" + address,
                    "-ext",
                    "san=ip:" + address,
                    "-storetype",
                    "PKCS12",
                    "-keystore",
                    store.toString(),
                    "-storepass",
                    password);
            return new ThrowawayKey(Files.readAllBytes(store), password);
        } finally {
            Files.deleteIfExists(store);
            Files.delete(directory);
        }
    }

    private static void run(String... command) throws IOException {
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            int status = process.waitFor();
            if (status != 0) {
                throw new IOException(command[0] + " ended with status " + status);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            process.destroy();
            throw new IOException("interrupted", e);
        }
    }
}
