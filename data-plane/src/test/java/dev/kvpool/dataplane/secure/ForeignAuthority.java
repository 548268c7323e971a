// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.cert.IssuedDirectory;
import dev.kvpool.identity.certificate.Pem;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** An authority that is not kvpool's and gives other names, as SPIRE does: the JDK's keytool. */
public final class ForeignAuthority {
    private static final String PASSWORD = "no secret";
    private static final String ROOT = "root";

    private final Path store;
    private int count;

    /** Makes a root, in a file of this folder. */
    public ForeignAuthority(Path folder) {
        store = folder.resolve("foreign.p12");
        keytool("-genkeypair", "-alias", ROOT, "-dname", "CN=an authority of others", "-ext", "bc:c=ca:true");
    }

    /** The root that its certificates lead to. */
    public X509Certificate root() {
        try {
            return (X509Certificate) keys().getCertificate(ROOT);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Fills a directory with a certificate that has this URI for its only name. */
    public void fill(Path directory, String uri) throws IOException {
        String alias = "leaf-" + ++count;
        keytool("-genkeypair", "-alias", alias, "-signer", ROOT, "-dname", "CN=any", "-ext", "san=uri:" + uri);
        try {
            PrivateKey key = (PrivateKey) keys().getKey(alias, PASSWORD.toCharArray());
            X509Certificate leaf = (X509Certificate) keys().getCertificate(alias);
            IssuedDirectory.write(directory, Pem.encode(root()), key, Pem.encode(leaf));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Says beside a directory what the names of others stand for. */
    public static void rules(Path directory, String text) throws IOException {
        Path names = directory.resolveSibling(directory.getFileName() + ".names");
        Files.createDirectories(names);
        Files.writeString(names.resolve("names"), text);
    }

    private KeyStore keys() throws GeneralSecurityException {
        try (InputStream in = Files.newInputStream(store)) {
            KeyStore keys = KeyStore.getInstance("PKCS12");
            keys.load(in, PASSWORD.toCharArray());
            return keys;
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private void keytool(String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString()));
        command.addAll(Arrays.asList(arguments));
        command.addAll(List.of("-keyalg", "EC", "-groupname", "secp256r1", "-validity", "9"));
        command.addAll(List.of("-keystore", store.toString(), "-storetype", "PKCS12", "-storepass", PASSWORD));
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor()).as(said).isZero();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
