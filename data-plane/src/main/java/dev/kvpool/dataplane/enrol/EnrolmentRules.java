// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.name.PeerRole;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Which ServiceAccount gets which name. One per line, as its namespace and name and what its processes are:
 *
 * <pre>
 * NAMESPACE/ACCOUNT node                     a storage node; its id is the name of its pod
 * NAMESPACE/ACCOUNT node SET                 a storage node of a perNode set; its id is SET.NODE
 * NAMESPACE/ACCOUNT agent                    an agent, by the name of its Kubernetes node
 * NAMESPACE/ACCOUNT operator
 * NAMESPACE/ACCOUNT monitor
 * NAMESPACE/ACCOUNT admin
 * NAMESPACE/ACCOUNT tenant TENANT rw|ro      an engine
 * NAMESPACE/*       tenant TENANT rw|ro      engines with any other account of the namespace
 * NAMESPACE/ACCOUNT none                     nothing, whatever is said of the other accounts of the namespace
 * </pre>
 *
 * Empty lines and what begins with {@code #} do not count. Masters sign, so none enrols.
 */
public final class EnrolmentRules {
    private static final Pattern BLANKS = Pattern.compile("\\s+");
    private static final Pattern ACCOUNT =
            Pattern.compile("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?/([*]|[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?)");
    private static final String ANY = "/*";
    private static final String NONE = "none";
    private static final Pattern SET = Pattern.compile("[a-z]([-a-z0-9]{0,61}[a-z0-9])?");
    private static final UUID ANY_POOL = new UUID(0, 1);
    private static final int LINES_MAX = 10_000;

    /** What a line says behind the account; without a role it gets no name. */
    private record Rule(Optional<PeerRole> role, List<String> words) {}

    private final Map<String, Rule> byAccount;

    private EnrolmentRules(Map<String, Rule> byAccount) {
        this.byAccount = Map.copyOf(byAccount);
    }

    /**
     * Reads rules.
     *
     * @throws IllegalArgumentException with the number of the line that is wrong, and why
     */
    public static EnrolmentRules parse(String text) {
        Map<String, Rule> rules = new HashMap<>();
        List<String> lines = text.lines().toList();
        if (lines.size() > LINES_MAX) {
            throw new IllegalArgumentException("it has " + lines.size() + " lines; at most " + LINES_MAX);
        }
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            String[] words = BLANKS.split(line);
            try {
                add(words, rules);
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("line " + (i + 1) + ": " + e.getMessage(), e);
            }
        }
        return new EnrolmentRules(rules);
    }

    private static void add(String[] words, Map<String, Rule> rules) {
        if (!ACCOUNT.matcher(words[0]).matches()) {
            throw new IllegalArgumentException("'" + words[0] + "' is not NAMESPACE/SERVICEACCOUNT");
        }
        if (words.length < 2) {
            throw new IllegalArgumentException(words[0] + " gets no role; there are " + roles());
        }
        List<String> rest = new ArrayList<>(List.of(words).subList(2, words.length));
        if (words[1].equals(NONE)) {
            if (!rest.isEmpty() || words[0].endsWith(ANY)) {
                throw new IllegalArgumentException("'" + NONE + "' is of one account, and nothing follows it");
            }
            put(words[0], new Rule(Optional.empty(), List.of()), rules);
            return;
        }
        PeerRole role = role(words[1]);
        boolean fits = switch (role) {
            case NODE ->
                rest.isEmpty()
                        || (rest.size() == 1 && SET.matcher(rest.getFirst()).matches());
            case TENANT -> rest.size() == 2;
            default -> rest.isEmpty();
        };
        if (!fits) {
            throw new IllegalArgumentException("what follows " + role.word()
                    + " is not right: it is 'node', 'node SET'," + " 'tenant TENANT rw|ro', or the role alone");
        }
        if (words[0].endsWith(ANY) && role != PeerRole.TENANT) {
            throw new IllegalArgumentException(words[0]
                    + " is all accounts of a namespace; they may be engines of a tenant only, not " + role.word());
        }
        if (role == PeerRole.TENANT) {
            PeerName.ofPath(ANY_POOL, "tenant/" + String.join("/", rest) + "/any"); // refuses what can be no name
        }
        put(words[0], new Rule(Optional.of(role), List.copyOf(rest)), rules);
    }

    private static void put(String account, Rule rule, Map<String, Rule> rules) {
        Rule before = rules.put(account, rule);
        if (before != null && !before.equals(rule)) {
            throw new IllegalArgumentException(
                    account + " has another role in an earlier line; give each role an account of its own");
        }
    }

    private static PeerRole role(String word) {
        for (PeerRole role : PeerRole.values()) {
            if (role != PeerRole.MASTER && role.word().equals(word)) {
                return role;
            }
        }
        throw new IllegalArgumentException("'" + word + "' is no role that enrols; there are " + roles());
    }

    private static String roles() {
        return "node, agent, operator, monitor, admin, tenant and none";
    }

    /**
     * The name of whom a token speaks for.
     *
     * @throws RefusedTokenException when there is no rule for it, or the token does not say what its name consists of
     */
    public PeerName name(UUID poolId, ServiceAccountToken token) throws RefusedTokenException {
        String account = token.namespace() + "/" + token.serviceAccount();
        Rule rule = Optional.ofNullable(byAccount.get(account))
                .or(() -> Optional.ofNullable(byAccount.get(token.namespace() + ANY)))
                .filter(found -> found.role().isPresent())
                .orElseThrow(
                        () -> refused(
                                "ServiceAccount " + account
                                        + " has no part in this pool; spec.tenants of the pool, or the file of --enrolment, gives accounts their parts"));
        PeerRole role = rule.role().orElseThrow();
        String path = switch (role) {
            case NODE ->
                "node/"
                        + (rule.words().isEmpty()
                                ? bound(token.pod(), "pod", account)
                                : rule.words().getFirst() + "." + bound(token.node(), "node", account));
            case AGENT -> "agent/" + bound(token.node(), "node", account);
            case ADMIN -> "admin/" + token.namespace() + "." + token.serviceAccount();
            case TENANT ->
                "tenant/" + String.join("/", rule.words()) + "/" + token.namespace() + "." + token.serviceAccount();
            case OPERATOR, MONITOR -> role.word();
            case MASTER -> throw new IllegalStateException("no rule has this role");
        };
        try {
            return PeerName.ofPath(poolId, path);
        } catch (IllegalArgumentException e) { // names of Kubernetes that together are too long
            throw refused(e.getMessage());
        }
    }

    private static String bound(String name, String kind, String account) throws RefusedTokenException {
        if (name.isEmpty()) {
            throw refused(
                    "the token of " + account + " does not say its " + kind
                            + "; it must come from a projected volume of its pod, and for a node from Kubernetes 1.30 or later");
        }
        return name;
    }

    private static RefusedTokenException refused(String why) {
        return new RefusedTokenException(RefusedTokenException.Reason.NO_RULE, why);
    }
}
