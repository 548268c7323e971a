// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.master.http;

import dev.kvpool.identity.certificate.CertificateAuthority.Issued;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** What a server of a test shows to those that connect. */
public final class ServerKeys {
    private static final char[] NO_PASSWORD = {};

    private ServerKeys() {}

    /** TLS 1.3 by this certificate. */
    public static SSLContext context(Issued issued) throws IOException, GeneralSecurityException {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        keys.load(null, null);
        keys.setKeyEntry("own", issued.key(), NO_PASSWORD, new Certificate[] {issued.certificate()});
        KeyManagerFactory factory = KeyManagerFactory.getInstance("PKIX");
        factory.init(keys, NO_PASSWORD);
        SSLContext context = SSLContext.getInstance("TLSv1.3");
        context.init(factory.getKeyManagers(), null, null);
        return context;
    }
}
