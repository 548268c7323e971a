// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.identity.name;

import dev.kvpool.identity.text.Quoted;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What certificates of others stand for: those that name the ServiceAccount of a pod, as SPIRE and cert-manager's csi-driver-spiffe give them,
 * {@code spiffe://TRUST-DOMAIN/ns/NAMESPACE/sa/ACCOUNT}. A file of lines:
 *
 * <pre>
 * pool POOL-ID
 * trust-domain TRUST-DOMAIN
 * NAMESPACE/ACCOUNT master                   any master of the pool
 * NAMESPACE/ACCOUNT node                     any of its storage nodes
 * NAMESPACE/ACCOUNT tenant TENANT rw|ro      an engine
 * NAMESPACE/*       tenant TENANT rw|ro      engines with any other account of the namespace
 * NAMESPACE/ACCOUNT none                     nothing, whatever is said of the other accounts of the namespace
 * </pre>
 *
 * Empty lines and what begins with {@code #} do not count. Names of kvpool are good beside them. native/schema/foreign-names.txt has what all
 * languages make of it.
 */
public final class ForeignNames {
    /** Of processes that know names of kvpool only. */
    public static final ForeignNames NONE = new ForeignNames(Optional.empty(), Map.of());

    private static final String SCHEME = "spiffe://";
    private static final Pattern BLANKS = Pattern.compile("[ \t]+");
    private static final String LABEL = "[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?";
    private static final Pattern ACCOUNT =
            Pattern.compile(LABEL + "/(?:[*]|(?=[^/]{1,253}$)" + LABEL + "(?:[.]" + LABEL + ")*)");
    private static final Pattern TRUST_DOMAIN = Pattern.compile("[-a-z0-9._]{1,255}");
    private static final Pattern PATH = Pattern.compile("ns/([^/]{1,63})/sa/([^/]{1,253})");
    private static final UUID NO_POOL = new UUID(0, 0);
    private static final String ANY = "/*";
    private static final int LINES_MAX = 10_000;
    private static final String FORMS = "'NAMESPACE/ACCOUNT master', 'node', 'tenant TENANT rw|ro' or 'none'";

    /** Whose names they are, and in which pool they mean something. */
    private record Domain(UUID pool, String name) {}

    /**
     * What a line says of an account.
     *
     * @param words behind it
     */
    private record Rule(List<String> words) {
        String role() {
            return words.getFirst();
        }
    }

    private final Optional<Domain> domain;
    private final Map<String, Rule> byAccount;

    private ForeignNames(Optional<Domain> domain, Map<String, Rule> byAccount) {
        this.domain = domain;
        this.byAccount = Map.copyOf(byAccount);
    }

    /**
     * Reads a file of rules.
     *
     * @throws IllegalArgumentException with the number of the line that is wrong, and why
     */
    public static ForeignNames parse(String text) {
        Map<String, Rule> rules = new HashMap<>();
        Optional<UUID> pool = Optional.empty();
        Optional<String> trustDomain = Optional.empty();
        List<String> lines = text.lines().toList();
        if (lines.size() > LINES_MAX) {
            throw new IllegalArgumentException("it has " + lines.size() + " lines; at most " + LINES_MAX);
        }
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            List<String> words = List.of(BLANKS.split(line));
            try {
                switch (words.getFirst()) {
                    case "pool" -> pool = once(pool, words, ForeignNames::poolId);
                    case "trust-domain" -> trustDomain = once(trustDomain, words, ForeignNames::trustDomain);
                    default -> add(words, rules);
                }
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("line " + (i + 1) + ": " + e.getMessage(), e);
            }
        }
        if (pool.isEmpty() || trustDomain.isEmpty()) {
            throw new IllegalArgumentException(
                    "it lacks the line '" + (pool.isEmpty() ? "pool ID" : "trust-domain NAME")
                            + "'; write the pool's id and the trust domain of the certificates first");
        }
        return new ForeignNames(Optional.of(new Domain(pool.get(), trustDomain.get())), rules);
    }

    private static <T> Optional<T> once(Optional<T> before, List<String> words, Function<String, T> word) {
        if (before.isPresent() || words.size() != 2) {
            throw new IllegalArgumentException(
                    "there must be one line '" + Quoted.cut(words.getFirst()) + "', with one word behind it");
        }
        return Optional.of(word.apply(words.get(1)));
    }

    private static UUID poolId(String word) {
        return poolIdIn(word)
                .orElseThrow(() ->
                        new IllegalArgumentException("'" + Quoted.cut(word) + "' is no pool id, a UUID in lower case"));
    }

    private static Optional<UUID> poolIdIn(String word) {
        try {
            UUID id = UUID.fromString(word);
            return id.toString().equals(word) && !id.equals(NO_POOL) ? Optional.of(id) : Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** In that of a pool a name would have two meanings. */
    private static String trustDomain(String word) {
        if (!TRUST_DOMAIN.matcher(word).matches() || poolIdIn(word).isPresent()) {
            throw new IllegalArgumentException("'" + Quoted.cut(word)
                    + "' is no trust domain of others: lower case letters, digits, '.', '-' and '_', and no pool id");
        }
        return word;
    }

    private static void add(List<String> words, Map<String, Rule> rules) {
        String account = words.getFirst();
        if (!ACCOUNT.matcher(account).matches()) {
            throw new IllegalArgumentException(
                    "'" + Quoted.cut(account) + "' is not NAMESPACE/ACCOUNT; lines are " + FORMS);
        }
        Rule rule = new Rule(words.subList(1, words.size()));
        boolean isEngine = rule.words().size() == 3 && rule.role().equals("tenant");
        boolean isOther = rule.words().size() == 1
                && !account.endsWith(ANY)
                && List.of("master", "node", "none").contains(rule.role());
        if (!isEngine && !isOther) {
            throw new IllegalArgumentException("what follows " + account + " is not right; lines are " + FORMS
                    + ", and NAMESPACE/* may be engines of a tenant only");
        }
        if (isEngine) {
            PeerName.ofPath(
                    NO_POOL,
                    "tenant/" + rule.words().get(1) + "/" + rule.words().get(2) + "/any");
        }
        Rule before = rules.put(account, rule);
        if (before != null && !before.equals(rule)) {
            throw new IllegalArgumentException(
                    account + " is something else in an earlier line; give each role an account of its own");
        }
    }

    /**
     * Reads a URI SAN: of kvpool, or of others for which there is a rule.
     *
     * @throws IllegalArgumentException when it is neither; the message says what is wrong and what to do
     */
    public PeerName name(String uri) {
        Optional<String> path = domain.map(its -> SCHEME + its.name() + "/")
                .filter(uri::startsWith)
                .map(prefix -> uri.substring(prefix.length()));
        return path.isPresent() ? foreign(uri, path.get(), domain.orElseThrow()) : own(uri);
    }

    /**
     * Who verified masters of the pool, as tokens say for whom they are: the certificate authority, and where others make certificates also the
     * ServiceAccount of masters, for such an authority has many pools.
     *
     * @param fingerprint of the certificate authority
     */
    public List<String> mastersUnder(String fingerprint) {
        return domain.isEmpty()
                ? List.of(fingerprint)
                : byAccount.entrySet().stream()
                        .filter(rule -> rule.getValue().role().equals("master"))
                        .map(rule -> fingerprint + "/" + rule.getKey())
                        .sorted()
                        .toList();
    }

    private PeerName own(String uri) {
        try {
            return PeerName.parse(uri);
        } catch (IllegalArgumentException e) {
            throw domain.isEmpty()
                    ? e
                    : new IllegalArgumentException(
                            e.getMessage() + ", or those of trust domain "
                                    + domain.get().name(),
                            e);
        }
    }

    private PeerName foreign(String uri, String path, Domain in) {
        Matcher matcher = PATH.matcher(path);
        String account = matcher.matches() ? matcher.group(1) + "/" + matcher.group(2) : "";
        if (account.endsWith(ANY) || !ACCOUNT.matcher(account).matches()) {
            throw new IllegalArgumentException(
                    "'" + Quoted.cut(uri) + "' names no ServiceAccount; names of trust domain " + in.name() + " are "
                            + SCHEME + in.name() + "/ns/NAMESPACE/sa/ACCOUNT");
        }
        Rule rule = Optional.ofNullable(byAccount.get(account))
                .or(() -> Optional.ofNullable(byAccount.get(matcher.group(1) + ANY)))
                .filter(found -> !found.role().equals("none"))
                .orElseThrow(
                        () -> new IllegalArgumentException(
                                "'" + Quoted.cut(uri)
                                        + "' has no part in this pool: there is no rule for ServiceAccount " + account
                                        + "; spec.tenants[].serviceAccounts of the pool, or a line of the file of names, makes it an engine"));
        return switch (rule.role()) {
            case "master" -> PeerName.any(in.pool(), PeerRole.MASTER);
            case "node" -> PeerName.any(in.pool(), PeerRole.NODE);
            default -> PeerName.ofPath(in.pool(), String.join("/", rule.words()) + "/" + account.replace('/', '.'));
        };
    }
}
