// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import dev.kvpool.identity.peer.PoolTls;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * What one set of credentials needs for connections: {@link PoolTls} that shows a certificate. Host names are not
 * checked, names of kvpool are, by who dials or listens.
 *
 * @param credentials what it was made of
 * @param context of the JDK
 * @param keys what it shows
 * @param trust what it believes
 */
public record TlsContext(
        Credentials credentials, SSLContext context, X509ExtendedKeyManager keys, X509ExtendedTrustManager trust) {
    static TlsContext of(Credentials credentials) throws RefusedCertificateException {
        try {
            X509ExtendedKeyManager keys =
                    (X509ExtendedKeyManager) keys(credentials).getKeyManagers()[0];
            X509ExtendedTrustManager trust = PoolTls.trust(credentials.roots());
            return new TlsContext(credentials, context(keys, trust), keys, trust);
        } catch (GeneralSecurityException | IOException e) {
            throw new RefusedCertificateException("the certificates cannot be used: " + e, e);
        }
    }

    static SSLContext context(X509ExtendedKeyManager keys, X509ExtendedTrustManager trust)
            throws GeneralSecurityException {
        return PoolTls.context(new KeyManager[] {keys}, trust);
    }

    /**
     * Reads a directory once, for commands that end soon.
     *
     * @throws RefusedCertificateException with the file, the cause and how to fix it
     */
    public static TlsContext read(Path directory, Instant now) throws RefusedCertificateException {
        return of(CertificateFiles.read(directory).check(now));
    }

    /** Whether the chain that a client has shown, and that was trusted in its handshake, leads to a root of these credentials. */
    public boolean stillTrusts(SSLSession session) throws SSLPeerUnverifiedException {
        Certificate[] shown = session.getPeerCertificates();
        return stillTrusts(List.of(Arrays.copyOf(shown, shown.length, X509Certificate[].class)));
    }

    /** Whether a chain leads to a root that is trusted, and is valid now. */
    public boolean stillTrusts(List<X509Certificate> chain) {
        try {
            trust.checkClientTrusted(
                    chain.toArray(X509Certificate[]::new),
                    chain.getFirst().getPublicKey().getAlgorithm());
            return true;
        } catch (CertificateException e) {
            return false;
        }
    }

    private static KeyManagerFactory keys(Credentials credentials) throws GeneralSecurityException, IOException {
        char[] password = {};
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        store.setKeyEntry(
                "own", credentials.key(), password, credentials.chain().toArray(X509Certificate[]::new));
        KeyManagerFactory factory = KeyManagerFactory.getInstance("PKIX");
        factory.init(store, password);
        return factory;
    }
}
