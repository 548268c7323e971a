// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManagerFactory;

/**
 * What one set of credentials needs for connections: TLS 1.3 only, AES-GCM, X25519 or P-256. Trust is the roots and nothing of the
 * machine; host names are not checked, names of kvpool are, by who dials or listens.
 *
 * @param credentials what it was made of
 * @param context of the JDK
 */
public record TlsContext(Credentials credentials, SSLContext context) {
    private static final String[] PROTOCOLS = {"TLSv1.3"};
    private static final String[] SUITES = {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384"};
    private static final String[] GROUPS = {"x25519", "secp256r1"};

    static TlsContext of(Credentials credentials) throws RefusedCertificateException {
        try {
            SSLContext context = SSLContext.getInstance("TLSv1.3");
            context.init(keys(credentials).getKeyManagers(), trust(credentials).getTrustManagers(), null);
            return new TlsContext(credentials, context);
        } catch (GeneralSecurityException | IOException e) {
            throw new RefusedCertificateException("the certificates cannot be used: " + e, e);
        }
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

    private static TrustManagerFactory trust(Credentials credentials) throws GeneralSecurityException, IOException {
        KeyStore store = empty();
        for (int i = 0; i < credentials.roots().size(); i++) {
            store.setCertificateEntry("root-" + i, credentials.roots().get(i));
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
