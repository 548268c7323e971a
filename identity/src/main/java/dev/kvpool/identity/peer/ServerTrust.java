// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.identity.peer;

import dev.kvpool.identity.name.ForeignNames;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.name.PeerNames;
import dev.kvpool.identity.text.Quoted;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * For HTTPS clients: the chain must lead to a root of the pool, and the name in the certificate be one that was meant.
 * Host names are not looked at, whatever the client asks for: members are known by their names of kvpool, which no address says. The handshake fails
 * before anything of a request is sent.
 */
public final class ServerTrust extends X509ExtendedTrustManager {
    private final Meant meant;

    /** Whom a client means, where addresses have roots of their own. Asked in each handshake, by any thread. */
    public interface Meant {
        /**
         * What the chain of who answers must lead to.
         *
         * @param address that was dialled, without the port; empty where the connection does not know it
         * @throws CertificateException when none is meant there
         */
        X509ExtendedTrustManager roots(String address) throws CertificateException;

        /** What certificates of others stand for there. */
        ForeignNames names(String address) throws CertificateException;

        /** As {@link Expected#problem}. */
        Optional<String> problem(String address, PeerName peer) throws CertificateException;
    }

    /** Whom a client means. */
    public interface Expected {
        /**
         * What is wrong with who answers.
         *
         * @param address that was dialled, without the port; empty where the connection does not know it
         * @param peer who is there
         * @return a sentence; empty when this is who was meant
         */
        Optional<String> problem(String address, PeerName peer);
    }

    private ServerTrust(Meant meant) {
        this.meant = meant;
    }

    /**
     * A context for connections to members of a pool on which this side shows no certificate.
     *
     * @param roots of the pool, at least one
     * @param expected asked in each handshake, by any thread
     */
    public static SSLContext context(List<X509Certificate> roots, Expected expected) {
        return context(new KeyManager[0], roots, ForeignNames.NONE, expected);
    }

    /**
     * As {@link #context(List, Expected)}, with what this side shows when it is asked.
     *
     * @param foreign what certificates of others stand for
     */
    public static SSLContext context(
            KeyManager[] keys, List<X509Certificate> roots, ForeignNames foreign, Expected expected) {
        try {
            return context(keys, new Everywhere(PoolTls.trust(roots), foreign, expected));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java cannot use these roots: " + e, e);
        }
    }

    /** As {@link #context(List, Expected)}, for connections to several pools. */
    public static SSLContext context(Meant meant) {
        try {
            return context(new KeyManager[0], meant);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java has no TLS 1.3", e);
        }
    }

    private static SSLContext context(KeyManager[] keys, Meant meant) throws GeneralSecurityException {
        return PoolTls.context(keys, new ServerTrust(meant));
    }

    /** The same roots at every address. */
    private record Everywhere(X509ExtendedTrustManager all, ForeignNames foreign, Expected expected) implements Meant {
        @Override
        public X509ExtendedTrustManager roots(String address) {
            return all;
        }

        @Override
        public ForeignNames names(String address) {
            return foreign;
        }

        @Override
        public Optional<String> problem(String address, PeerName peer) {
            return expected.problem(address, peer);
        }
    }

    /** What is wrong where exactly this name was meant, so this pool, role and name; of a certificate that does not say which process it is of, pool and role. */
    public static Optional<String> unless(PeerName meant, PeerName found) {
        return found.trustDomain().equals(meant.trustDomain())
                        && found.role() == meant.role()
                        && found.mayBe(meant.name())
                ? Optional.empty()
                : Optional.of("the other side is " + found.uri() + ", which is not who was meant: " + meant.uri());
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
        check(chain, type, "");
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) throws CertificateException {
        check(
                chain,
                type,
                socket.getInetAddress() == null ? "" : socket.getInetAddress().getHostAddress());
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) throws CertificateException {
        check(chain, type, engine.getPeerHost() == null ? "" : engine.getPeerHost());
    }

    private void check(X509Certificate[] chain, String type, String address) throws CertificateException {
        // Not with the connection, or it would ask for the host's name as well.
        meant.roots(address).checkServerTrusted(chain, type);
        PeerName peer;
        try {
            peer = PeerNames.of(chain[0], meant.names(address));
        } catch (IllegalArgumentException e) {
            throw new CertificateException(Quoted.cut(String.valueOf(e.getMessage())), e);
        }
        Optional<String> problem = meant.problem(address, peer);
        if (problem.isPresent()) {
            throw new CertificateException(problem.get());
        }
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
        throw new CertificateException("this context is for clients only");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) throws CertificateException {
        checkClientTrusted(chain, type);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) throws CertificateException {
        checkClientTrusted(chain, type);
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return new X509Certificate[0];
    }
}
