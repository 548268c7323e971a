// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.master.http;

import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.Pem;
import dev.kvpool.identity.name.ForeignNames;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.peer.PoolTls;
import dev.kvpool.identity.peer.ServerTrust;
import dev.kvpool.operator.master.MasterEndpoint;
import java.net.InetAddress;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Believes that a master answers when its certificate is of the pool, and of the very pod that is meant, by the address that was dialled; where others
 * make certificates that name ServiceAccounts, of any master of the pool. So one HTTP client serves all pools, each with roots of its own. Host names in certificates say nothing.
 */
final class MasterTrust implements ServerTrust.Meant {
    private record Meant(
            MasterEndpoint.Identity identity,
            X509ExtendedTrustManager roots,
            ForeignNames foreign,
            String authority,
            PeerName name) {}

    /** By IP address, of which a cluster has only so many. */
    private final Map<String, Meant> byHost = new ConcurrentHashMap<>();

    /**
     * From now on this is meant by its address.
     *
     * @return the certificate authority that will have verified it, by its fingerprint, and the ServiceAccount that it showed, where others make
     *     certificates: of an audience
     * @throws IllegalArgumentException when the roots cannot be used; the message is the end of a sentence
     */
    String expect(String host, MasterEndpoint.Identity identity) {
        String address = written(host);
        Meant known = byHost.get(address);
        if (known == null || !known.identity().equals(identity)) {
            known = meant(identity);
            byHost.put(address, known);
        }
        return known.authority();
    }

    /** An IPv6 address can be written in several ways, and connections have one of their own. */
    private static String written(String host) {
        try {
            return InetAddress.ofLiteral(host).getHostAddress();
        } catch (IllegalArgumentException e) {
            return host;
        }
    }

    private static Meant meant(MasterEndpoint.Identity identity) {
        try {
            List<X509Certificate> roots = Pem.certificates(identity.roots());
            if (roots.size() != 1) { // with more it would not be known which of them stands for the master
                throw new IllegalArgumentException("there are " + roots.size() + " of them, and one is the pool's");
            }
            ForeignNames foreign = identity.names().map(ForeignNames::parse).orElse(ForeignNames.NONE);
            return new Meant(
                    identity,
                    PoolTls.trust(roots),
                    foreign,
                    foreign.mastersUnder(CertificateAuthority.fingerprint(roots.getFirst())).stream()
                            .findFirst()
                            .orElseThrow(() -> new IllegalArgumentException("no ServiceAccount is that of masters")),
                    PeerName.ofPath(UUID.fromString(identity.poolId()), "master/" + identity.pod()));
        } catch (IllegalArgumentException | GeneralSecurityException e) {
            throw new IllegalArgumentException(
                    "the certificates that the pool trusts cannot be used: " + e.getMessage(), e);
        }
    }

    @Override
    public X509ExtendedTrustManager roots(String address) throws CertificateException {
        return meant(address).roots();
    }

    @Override
    public ForeignNames names(String address) throws CertificateException {
        return meant(address).foreign();
    }

    @Override
    public Optional<String> problem(String address, PeerName peer) throws CertificateException {
        return ServerTrust.unless(meant(address).name(), peer);
    }

    private Meant meant(String address) throws CertificateException {
        Meant meant = byHost.get(written(address));
        if (meant == null) {
            throw new CertificateException("nothing is known of who has to be at " + address);
        }
        return meant;
    }
}
