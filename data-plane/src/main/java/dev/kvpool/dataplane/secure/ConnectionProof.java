// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import dev.kvpool.dataplane.wire.message.HandshakeMessage.CertificateProof;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.Signature;
import java.security.SignatureException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.interfaces.ECKey;
import java.security.interfaces.RSAKey;
import java.security.spec.MGF1ParameterSpec;
import java.security.spec.PSSParameterSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.SSLKeyException;
import javax.net.ssl.SSLSession;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * How the ends of one TLS connection prove to each other that they hold other certificates than its handshake has shown; the idea is that of
 * RFC 9261. The certificate's key signs what TLS exports of this connection and of no other: a proof is worth nothing on another one. From any
 * thread.
 */
public final class ConnectionProof {
    private static final String LABEL = "EXPORTER-kvpool-certificate-proof";
    private static final int BINDING_BYTES = 32;
    private static final int SPACES = 64;
    private static final int SALT_BYTES = 32;
    private static final PSSParameterSpec PSS = new PSSParameterSpec(
            "SHA-256", "MGF1", MGF1ParameterSpec.SHA256, SALT_BYTES, PSSParameterSpec.TRAILER_FIELD_BC);

    /** Which end proves: what one end signs is no proof of the other. */
    public enum Prover {
        DIALER("dialer"),
        LISTENER("listener");

        private final String word;

        Prover(String word) {
            this.word = word;
        }
    }

    private final byte[] binding;

    ConnectionProof(byte... binding) {
        this.binding = binding.clone();
    }

    /**
     * Of a connection whose handshake is done.
     *
     * @throws GeneralSecurityException when there is nothing to export
     */
    public static ConnectionProof of(SSLSession session) throws GeneralSecurityException {
        try {
            if (session instanceof ExtendedSSLSession extended) {
                return new ConnectionProof(extended.exportKeyingMaterialData(LABEL, null, BINDING_BYTES));
            }
        } catch (SSLKeyException e) {
            throw new GeneralSecurityException(e);
        }
        throw new GeneralSecurityException("this connection's TLS exports nothing");
    }

    /** That this process holds its certificate. */
    public CertificateProof make(Prover prover, Credentials own) throws GeneralSecurityException {
        List<byte[]> chain = new ArrayList<>();
        for (X509Certificate certificate : own.chain()) {
            if (chain.size() < CertificateProof.CERTIFICATES_MAX) { // no path is longer
                chain.add(certificate.getEncoded());
            }
        }
        Signature signature = algorithm(own.key());
        signature.initSign(own.key());
        signature.update(signed(prover, chain));
        return new CertificateProof(chain.stream().map(ByteBuffer::wrap).toList(), ByteBuffer.wrap(signature.sign()));
    }

    /**
     * The chain of the end that has dialled, which holds its first certificate.
     *
     * @throws GeneralSecurityException when it does not, or the chain does not lead to a root that is trusted
     */
    public List<X509Certificate> check(CertificateProof proof, X509ExtendedTrustManager trust)
            throws GeneralSecurityException {
        List<byte[]> encoded =
                proof.chain().stream().map(ConnectionProof::bytes).toList();
        List<X509Certificate> chain = parse(encoded);
        Key key = chain.getFirst().getPublicKey();
        trust.checkClientTrusted(chain.toArray(X509Certificate[]::new), key.getAlgorithm());
        Signature signature = algorithm(key);
        signature.initVerify(chain.getFirst());
        signature.update(signed(Prover.DIALER, encoded));
        if (!signature.verify(bytes(proof.signature()))) {
            throw new SignatureException("it does not hold its key: the signature of this connection does not fit");
        }
        return chain;
    }

    private static List<X509Certificate> parse(List<byte[]> encoded) throws CertificateException {
        if (encoded.isEmpty()) {
            throw new CertificateException("there is none");
        }
        CertificateFactory factory = CertificateFactory.getInstance("X.509");
        List<X509Certificate> chain = new ArrayList<>();
        for (byte[] der : encoded) {
            X509Certificate certificate = (X509Certificate) factory.generateCertificate(new ByteArrayInputStream(der));
            if (!Arrays.equals(
                    certificate.getEncoded(), der)) { // the JDK reads PEM too, and what has something behind it
                throw new CertificateException("it is not in DER");
            }
            chain.add(certificate);
        }
        return chain;
    }

    private static Signature algorithm(Key key) throws GeneralSecurityException {
        return switch (key) {
            case ECKey _ -> Signature.getInstance("SHA256withECDSA");
            case RSAKey _ -> {
                Signature signature = Signature.getInstance("RSASSA-PSS");
                signature.setParameter(PSS);
                yield signature;
            }
            default -> throw new SignatureException("its key is neither of EC nor of RSA");
        };
    }

    /** Laid out as what TLS 1.3 signs in CertificateVerify, under another name: neither can be taken for the other. */
    private byte[] signed(Prover prover, List<byte[]> chain) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.writeBytes(" ".repeat(SPACES).getBytes(StandardCharsets.US_ASCII));
        all.writeBytes(("kvpool, certificate of the " + prover.word + "\0").getBytes(StandardCharsets.US_ASCII));
        all.writeBytes(binding);
        chain.forEach(all::writeBytes);
        return all.toByteArray();
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] copy = new byte[buffer.remaining()];
        buffer.get(buffer.position(), copy);
        return copy;
    }
}
