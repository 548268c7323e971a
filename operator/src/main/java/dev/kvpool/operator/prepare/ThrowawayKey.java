// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.prepare;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.PfxOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;

/** A key and its certificate for one server, made by Java's own tool: Java has no public class that makes certificates. */
final class ThrowawayKey {
    private ThrowawayKey() {}

    static PfxOptions make(String address) throws IOException {
        Path directory = Files.createTempDirectory("kvpool-operator-prepare-");
        Path store = directory.resolve("key.p12");
        String password = UUID.randomUUID().toString();
        try {
            run(
                    Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                    "-genkeypair",
                    "-keyalg",
                    "EC",
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
            return new PfxOptions()
                    .setValue(Buffer.buffer(Files.readAllBytes(store)))
                    .setPassword(password);
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
