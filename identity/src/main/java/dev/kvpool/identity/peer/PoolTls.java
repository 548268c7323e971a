// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.identity.peer;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/** TLS as all connections of a pool have it: 1.3 only, AES-GCM, X25519 or P-256. Trust is the roots and nothing of the machine. */
public final class PoolTls {
    private static final String[] PROTOCOLS = {"TLSv1.3"};
    private static final String[] SUITES = {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384"};
    private static final String[] GROUPS = {"x25519", "secp256r1"};

    private PoolTls() {}

    /** How connections are made, for listeners and diallers. */
    public static SSLParameters parameters() {
        SSLParameters parameters = new SSLParameters(SUITES.clone(), PROTOCOLS.clone());
        parameters.setNamedGroups(GROUPS.clone());
        return parameters;
    }

    /**
     * A context that shows what {@code keys} says and believes what {@code trust} does.
     *
     * @param keys empty to show no certificate
     */
    public static SSLContext context(KeyManager[] keys, X509ExtendedTrustManager trust)
            throws GeneralSecurityException {
        SSLContext context = SSLContext.getInstance("TLSv1.3");
        context.init(keys, new TrustManager[] {trust}, null);
        return context;
    }

    /** Believes chains that lead to one of these roots, whatever name they have. */
    public static X509ExtendedTrustManager trust(List<X509Certificate> roots) throws GeneralSecurityException {
        try {
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            for (int i = 0; i < roots.size(); i++) {
                store.setCertificateEntry("root-" + i, roots.get(i));
            }
            TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
            factory.init(store);
            return (X509ExtendedTrustManager) factory.getTrustManagers()[0];
        } catch (IOException e) {
            throw new GeneralSecurityException(e);
        }
    }
}
