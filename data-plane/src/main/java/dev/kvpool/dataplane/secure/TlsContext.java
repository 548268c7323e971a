// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * What one set of credentials needs for connections: TLS 1.3 only, AES-GCM, X25519 or P-256. Trust is the roots and nothing of the
 * machine; host names are not checked, names of kvpool are, by who dials or listens.
 *
 * @param credentials what it was made of
 * @param context of the JDK
 * @param keys what it shows
 * @param trust what it believes
 */
public record TlsContext(
        Credentials credentials, SSLContext context, X509ExtendedKeyManager keys, X509ExtendedTrustManager trust) {
    static {
        // Sessions are not resumed: a ticket would outlive the roots by which its holder was believed. Read when the
        // first context is made.
        if (System.getProperty("jdk.tls.server.newSessionTicketCount") == null) {
            System.setProperty("jdk.tls.server.newSessionTicketCount", "0");
        }
    }

    private static final String[] PROTOCOLS = {"TLSv1.3"};
    private static final String[] SUITES = {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384"};
    private static final String[] GROUPS = {"x25519", "secp256r1"};

    static TlsContext of(Credentials credentials) throws RefusedCertificateException {
        try {
            X509ExtendedKeyManager keys =
                    (X509ExtendedKeyManager) keys(credentials).getKeyManagers()[0];
            X509ExtendedTrustManager trust =
                    (X509ExtendedTrustManager) trust(credentials.roots()).getTrustManagers()[0];
            return new TlsContext(credentials, context(keys, trust), keys, trust);
        } catch (GeneralSecurityException | IOException e) {
            throw new RefusedCertificateException("the certificates cannot be used: " + e, e);
        }
    }

    static SSLContext context(X509ExtendedKeyManager keys, X509ExtendedTrustManager trust)
            throws GeneralSecurityException {
        SSLContext context = SSLContext.getInstance("TLSv1.3");
        context.init(new KeyManager[] {keys}, new TrustManager[] {trust}, null);
        return context;
    }

    /** For connections on which this process shows no certificate. */
    public static SSLContext trusting(List<X509Certificate> roots) {
        try {
            SSLContext context = SSLContext.getInstance("TLSv1.3");
            context.init(null, trust(roots).getTrustManagers(), null);
            return context;
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalStateException("this Java cannot use these roots: " + e, e);
        }
    }

    /**
     * Reads a directory once, for commands that end soon.
     *
     * @throws RefusedCertificateException with the file, the cause and how to fix it
     */
    public static TlsContext read(Path directory, Instant now) throws RefusedCertificateException {
        return of(CertificateFiles.read(directory).check(now));
    }

    /** How connections are made, for listeners and diallers. */
    public static SSLParameters parameters() {
        SSLParameters parameters = new SSLParameters(SUITES.clone(), PROTOCOLS.clone());
        parameters.setNamedGroups(GROUPS.clone());
        return parameters;
    }

    private static KeyManagerFactory keys(Credentials credentials) throws GeneralSecurityException, IOException {
        char[] password = {};
        KeyStore store = empty();
        store.setKeyEntry(
                "own", credentials.key(), password, credentials.chain().toArray(X509Certificate[]::new));
        KeyManagerFactory factory = KeyManagerFactory.getInstance("PKIX");
        factory.init(store, password);
        return factory;
    }

    private static TrustManagerFactory trust(List<X509Certificate> roots) throws GeneralSecurityException, IOException {
        KeyStore store = empty();
        for (int i = 0; i < roots.size(); i++) {
            store.setCertificateEntry("root-" + i, roots.get(i));
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
        factory.init(store);
        return factory;
    }

    private static KeyStore empty() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        return store;
    }
}
