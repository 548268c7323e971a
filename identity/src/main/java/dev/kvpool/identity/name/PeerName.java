// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.identity.name;

import dev.kvpool.identity.text.Quoted;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * The name in a certificate, its only URI SAN: {@code spiffe://POOL-ID/node/node-0} and the like. One text for each name: what is written in
 * another way (upper-case letters, escapes, empty parts) is refused, so that names can be compared as they are.
 *
 * @param trustDomain id of the pool
 * @param role what has that name
 * @param name of the master, node, agent, admin or client; empty for {@code operator} and {@code monitor}; {@code *} of a certificate of others
 *     that says the role and not which of its processes it is, see {@link ForeignNames}
 * @param tenant of a client, else empty
 * @param access of a client; others write
 */
public record PeerName(UUID trustDomain, PeerRole role, String name, String tenant, Access access) {
    static final int NAME_BYTES_MAX = 253;
    private static final int URI_BYTES_MAX = 512;

    /** No name that can be written. */
    private static final String ANY = "*";

    private static final String SCHEME = "spiffe://";
    private static final Pattern TRUST_DOMAIN = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
    private static final String LABEL_TEXT = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?";
    private static final Pattern LABEL = Pattern.compile(LABEL_TEXT);
    private static final Pattern SUBDOMAIN = Pattern.compile(LABEL_TEXT + "(\\." + LABEL_TEXT + ")*");
    private static final String FORMS =
            "master/NAME, node/NAME, agent/NAME, operator, monitor, admin/NAME, tenant/TENANT/rw/NAME or"
                    + " tenant/TENANT/ro/NAME, where TENANT is a DNS label and NAME a DNS subdomain in lower case";

    /**
     * Reads a URI SAN.
     *
     * @throws IllegalArgumentException when it is no such name; the message says what is wrong and what a name looks like
     */
    public static PeerName parse(String uri) {
        if (uri.getBytes(StandardCharsets.UTF_8).length > URI_BYTES_MAX) {
            throw new IllegalArgumentException("the name has more than " + URI_BYTES_MAX + " bytes");
        }
        if (!uri.startsWith(SCHEME)) {
            throw no(uri, "it does not begin with " + SCHEME);
        }
        String rest = uri.substring(SCHEME.length());
        int slash = rest.indexOf('/');
        String domain = slash < 0 ? rest : rest.substring(0, slash);
        if (!TRUST_DOMAIN.matcher(domain).matches()) {
            throw no(uri, "its trust domain is no pool id, a UUID in lower case");
        }
        UUID trustDomain = UUID.fromString(domain);
        if (trustDomain.equals(new UUID(0, 0))) {
            throw no(uri, "its trust domain is all zero");
        }
        return ofPath(trustDomain, slash < 0 ? "" : rest.substring(slash + 1), uri);
    }

    /** Reads the part behind the trust domain, such as {@code node/node-0}. */
    public static PeerName ofPath(UUID trustDomain, String path) {
        return ofPath(trustDomain, path, path);
    }

    private static PeerName ofPath(UUID trustDomain, String path, String shown) {
        String[] parts = path.split("/", -1);
        PeerRole role = Arrays.stream(PeerRole.values())
                .filter(each -> each.word().equals(parts[0]))
                .findFirst()
                .orElseThrow(() -> no(shown, "it is of no role"));
        return switch (role) {
            case OPERATOR, MONITOR -> {
                requireParts(parts, 1, shown);
                yield new PeerName(trustDomain, role, "", "", Access.WRITE);
            }
            case TENANT -> {
                requireParts(parts, 4, shown);
                if (!LABEL.matcher(parts[1]).matches()) {
                    throw no(shown, "its tenant is no DNS label");
                }
                yield new PeerName(trustDomain, role, requireName(parts[3], shown), parts[1], access(parts[2], shown));
            }
            case MASTER, NODE, AGENT, ADMIN -> {
                requireParts(parts, 2, shown);
                yield new PeerName(trustDomain, role, requireName(parts[1], shown), "", Access.WRITE);
            }
        };
    }

    /** That of any process of a role: all of them have the same certificate. */
    static PeerName any(UUID trustDomain, PeerRole role) {
        return new PeerName(trustDomain, role, ANY, "", Access.WRITE);
    }

    /** Whether a process with this name may be the one that is called that: it is, or the name does not say which it is. */
    public boolean mayBe(String process) {
        return name.equals(process) || name.equals(ANY);
    }

    /** The whole name. */
    public String uri() {
        return SCHEME + trustDomain + "/" + path();
    }

    /** Without the trust domain, as people read it. */
    public String path() {
        return switch (role) {
            case OPERATOR, MONITOR -> role.word();
            case TENANT -> role.word() + "/" + tenant + "/" + access.word() + "/" + name;
            case MASTER, NODE, AGENT, ADMIN -> role.word() + "/" + name;
        };
    }

    private static Access access(String word, String shown) {
        return Arrays.stream(Access.values())
                .filter(each -> each.word().equals(word))
                .findFirst()
                .orElseThrow(() -> no(shown, "its access is neither rw nor ro"));
    }

    private static String requireName(String name, String shown) {
        if (name.length() > NAME_BYTES_MAX || !SUBDOMAIN.matcher(name).matches()) {
            throw no(shown, "its last part is no DNS subdomain of 1 to " + NAME_BYTES_MAX + " bytes");
        }
        return name;
    }

    private static void requireParts(String[] parts, int count, String shown) {
        if (parts.length != count) {
            throw no(shown, "it has " + parts.length + " parts where " + count + " belong");
        }
    }

    private static IllegalArgumentException no(String shown, String why) {
        return new IllegalArgumentException("'" + Quoted.cut(shown) + "' is no name of kvpool: " + why + "; names are "
                + SCHEME + "POOL-ID/ and " + FORMS);
    }
}
