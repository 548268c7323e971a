// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import dev.kvpool.identity.peer.Refusal;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * A context whose connections use the certificates of their moment, for a server that takes one context for its life. It counts the clients whose
 * certificates are refused, which such a server keeps to itself.
 */
public final class FollowingContext {
    private FollowingContext() {}

    /** A context of this identity. */
    public static SSLContext of(TlsIdentity identity, TlsCounts counts) {
        try {
            return TlsContext.context(new Keys(identity), new Trust(identity, counts));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java has no TLS 1.3", e);
        }
    }

    /** Shows the certificate of the moment. */
    private static final class Keys extends X509ExtendedKeyManager {
        private final TlsIdentity identity;

        Keys(TlsIdentity identity) {
            this.identity = identity;
        }

        private X509ExtendedKeyManager now() {
            return identity.current().keys();
        }

        @Override
        public String[] getClientAliases(String keyType, Principal[] issuers) {
            return now().getClientAliases(keyType, issuers);
        }

        @Override
        public String chooseClientAlias(String[] keyType, Principal[] issuers, Socket socket) {
            return now().chooseClientAlias(keyType, issuers, socket);
        }

        @Override
        public String chooseEngineClientAlias(String[] keyType, Principal[] issuers, SSLEngine engine) {
            return now().chooseEngineClientAlias(keyType, issuers, engine);
        }

        @Override
        public String[] getServerAliases(String keyType, Principal[] issuers) {
            return now().getServerAliases(keyType, issuers);
        }

        @Override
        public String chooseServerAlias(String keyType, Principal[] issuers, Socket socket) {
            return now().chooseServerAlias(keyType, issuers, socket);
        }

        @Override
        public String chooseEngineServerAlias(String keyType, Principal[] issuers, SSLEngine engine) {
            return now().chooseEngineServerAlias(keyType, issuers, engine);
        }

        @Override
        public X509Certificate[] getCertificateChain(String alias) {
            return now().getCertificateChain(alias);
        }

        @Override
        public PrivateKey getPrivateKey(String alias) {
            return now().getPrivateKey(alias);
        }
    }

    /** Believes the roots of the moment. */
    private static final class Trust extends X509ExtendedTrustManager {
        private final TlsIdentity identity;
        private final TlsCounts counts;

        Trust(TlsIdentity identity, TlsCounts counts) {
            this.identity = identity;
            this.counts = counts;
        }

        /** One of the checks of a trust manager. */
        private interface Check {
            void by(X509ExtendedTrustManager trust) throws CertificateException;
        }

        private void check(Check check) throws CertificateException {
            try {
                check.by(identity.current().trust());
            } catch (CertificateException e) {
                counts.countFailedHandshake();
                counts.count(Refusal.of(e));
                throw e;
            }
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
            check(trust -> trust.checkClientTrusted(chain, type));
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
                throws CertificateException {
            check(trust -> trust.checkClientTrusted(chain, type, socket));
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
                throws CertificateException {
            check(trust -> trust.checkClientTrusted(chain, type, engine));
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
            check(trust -> trust.checkServerTrusted(chain, type));
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
                throws CertificateException {
            check(trust -> trust.checkServerTrusted(chain, type, socket));
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
                throws CertificateException {
            check(trust -> trust.checkServerTrusted(chain, type, engine));
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return identity.current().trust().getAcceptedIssuers();
        }
    }
}
