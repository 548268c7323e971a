// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.register;

import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * A {@link Register} as text, for an annotation and for people: one fact a line, the version first and {@code end} last, so that what
 * was cut off is noticed. Ids of nodes that begin alike share a line, for the Lease is written each second:
 *
 * <pre>
 * register 1
 * revision 7
 * purge 3.99
 * active 1.1
 * lease 5000
 * members demo-storage- 0,8c1f 1,77e0,5a18 2
 * lent default engine- 5f21
 * behind 4.17 demo-storage- 2
 * witness demo-storage-0 8c1f
 * ssd demo-storage-1 5a17
 * end
 * </pre>
 *
 * {@code 1,77e0,5a18}: what {@code demo-storage-1} holds is in the memory of the first number, and on the SSD of the second. {@code lent default}: an engine of that tenant is there as long as its process. {@code behind 4.17/3.5+}: what it holds below 4.17 may be old, it misses what was put from 3.5 on, and may hold some of it. {@code ssd}: the one of this number failed.
 */
public final class RegisterText {
    /** Annotations of one object end at 256 KiB, keys included. */
    public static final int CHARS_MAX = 200 * 1024;

    /** Beyond, no engine that lends memory is taken up: the rest is for storage nodes, and for what nodes miss while they are away. */
    public static final int CHARS_FOR_ENGINES = CHARS_MAX / 8 * 7;

    /** Nodes that a register has. */
    public static final int MEMBERS_MAX = 1 << 14;

    private static final int VERSION = 1;
    private static final long VERSIONS_MAX = 0xFFFF;
    /** Words of printable ASCII. Engines that lend memory are HOST:PORT-RANDOM; lists of nodes have commas. */
    private static final Pattern ID = Pattern.compile("[!-+\\--~]{1,253}");

    private static final String NO_PREFIX = "=";

    /** Before what a word says beside the id of a node, which has none. */
    private static final String PART = ",";

    private RegisterText() {}

    /** Whether a node id can be written. */
    public static boolean isId(String id) {
        return ID.matcher(id).matches();
    }

    // ---- writing ----------------------------------------------------------------------------------------------------

    public static String write(Register register) {
        StringBuilder text = new StringBuilder();
        text.append("register ").append(VERSION).append('\n');
        text.append("revision ").append(register.revision()).append('\n');
        text.append("purge ").append(register.purgeId()).append('\n');
        text.append("active ")
                .append(register.active().wire())
                .append('.')
                .append(register.active().layout())
                .append('\n');
        if (register.open()) {
            text.append("open\n");
        }
        if (register.objectLeaseMs() > 0) {
            text.append("lease ").append(register.objectLeaseMs()).append('\n');
        }
        // By what a line begins with: its kind, and what the nodes of the line have in common.
        SortedMap<String, Set<String>> members = new TreeMap<>();
        SortedMap<String, Set<String>> behind = new TreeMap<>();
        register.members().forEach((id, member) -> {
            String kind = member.isTransient() ? "lent " + member.tenant().name() : "members";
            add(members, kind, id, place(member));
            if (member.isBehind()) {
                add(behind, "behind " + absence(member), id, "");
            }
        });
        append(text, members);
        append(text, behind);
        register.witnesses()
                .forEach((id, memory) -> text.append("witness ")
                        .append(id)
                        .append(' ')
                        .append(Long.toHexString(memory))
                        .append('\n'));
        register.members().forEach((id, member) -> {
            if (member.failedSsd() != Member.NO_SSD) {
                text.append("ssd ")
                        .append(id)
                        .append(' ')
                        .append(Long.toHexString(member.failedSsd()))
                        .append('\n');
            }
        });
        register.drains()
                .forEach((id, drain) -> text.append(String.join(
                                " ",
                                "drain",
                                id,
                                drain.stage().name(),
                                Long.toHexString(drain.incarnation()),
                                Long.toString(drain.startedAtMs()),
                                Long.toString(drain.leftMs()),
                                Long.toString(drain.objectsMoved()),
                                Long.toString(drain.bytesMoved()),
                                Boolean.toString(drain.clears())))
                        .append('\n'));
        return text.append("end\n").toString();
    }

    private static String place(Member member) {
        String memory = member.memory() == Member.NO_MEMORY ? "" : PART + Long.toHexString(member.memory());
        return member.ssd() == Member.NO_SSD ? memory : memory + PART + Long.toHexString(member.ssd());
    }

    private static String absence(Member member) {
        boolean moved = !member.missesFrom().equals(member.behindSince());
        return member.behindSince() + (moved ? "/" + member.missesFrom() : "") + (member.holdsNewer() ? "+" : "");
    }

    private static void append(StringBuilder text, SortedMap<String, Set<String>> lines) {
        lines.forEach((head, suffixes) ->
                text.append(head).append(' ').append(String.join(" ", suffixes)).append('\n'));
    }

    /** A number at the end of an id stands alone; the rest is said once. */
    private static void add(SortedMap<String, Set<String>> lines, String kind, String id, String more) {
        int cut = id.lastIndexOf('-') + 1;
        boolean alike = cut > 0 && cut < id.length();
        String prefix = alike ? id.substring(0, cut) : NO_PREFIX;
        lines.computeIfAbsent(kind + ' ' + prefix, it -> new TreeSet<>()).add((alike ? id.substring(cut) : id) + more);
    }

    // ---- reading ----------------------------------------------------------------------------------------------------

    /** Reads what {@link #write} has written, and nothing else. */
    public static Register read(String text) throws RegisterException {
        require(text.length() <= CHARS_MAX, "it is longer than " + CHARS_MAX + " characters");
        Reader reader = new Reader();
        List<String> lines = text.lines().toList();
        require(!lines.isEmpty() && lines.getLast().equals("end"), "it does not end with a line 'end'");
        int number = 0;
        for (String line : lines.subList(0, lines.size() - 1)) {
            number++;
            try {
                reader.line(number, line.split(" ", -1));
            } catch (NumberFormatException e) {
                throw new RegisterException("line " + number + " has no number where one belongs");
            } catch (IllegalArgumentException e) {
                throw new RegisterException("line " + number + ": " + e.getMessage());
            }
        }
        Register register = reader.register(number);
        // One text for one register: whatever is out of order, repeated or spelt otherwise was written by nobody.
        require(write(register).equals(text), "it is not spelt as masters spell it");
        return register;
    }

    private static void require(boolean holds, String otherwise) throws RegisterException {
        if (!holds) {
            throw new RegisterException(otherwise);
        }
    }

    private static final class Reader {
        private static final int HEADS = 4;
        private long revision;
        private boolean open;
        private ObjectId purgeId = ObjectId.NONE;
        private ActiveVersions active = ActiveVersions.UNKNOWN;
        private long objectLeaseMs;
        private final SortedMap<String, Member> members = new TreeMap<>();
        private final SortedMap<String, DrainEntry> drains = new TreeMap<>();

        Register register(int lines) throws RegisterException {
            require(lines >= HEADS, "it lacks lines at its beginning");
            return new Register(revision, open, purgeId, active, objectLeaseMs, members, drains);
        }

        void line(int number, String[] words) throws RegisterException {
            switch (words[0]) {
                case "register" -> {
                    int version = Integer.parseInt(word(words, 1, 2));
                    require(version <= VERSION, "it is of version " + version + ", this build knows " + VERSION);
                    require(version == VERSION && number == 1, "it does not begin as one");
                }
                case "revision" -> {
                    revision = Long.parseLong(word(words, 1, 2));
                    require(revision >= 0, "a revision below 0");
                }
                case "open" -> {
                    require(words.length == 1, "a line with too many words");
                    open = true;
                }
                case "purge" -> purgeId = id(word(words, 1, 2));
                case "active" -> {
                    ObjectId numbers = id(word(words, 1, 2));
                    boolean fits = Long.compareUnsigned(numbers.epoch(), VERSIONS_MAX) <= 0
                            && Long.compareUnsigned(numbers.counter(), VERSIONS_MAX) <= 0;
                    require(fits, "a version above " + VERSIONS_MAX);
                    active = new ActiveVersions((int) numbers.epoch(), (int) numbers.counter());
                }
                case "lease" -> {
                    objectLeaseMs = Long.parseLong(word(words, 1, 2));
                    boolean fits = objectLeaseMs > 0 && objectLeaseMs <= Register.OBJECT_LEASE_MS_MAX;
                    require(fits, "an object lease that is none");
                }
                case "members" -> words(words, 1, this::storageNode);
                case "lent" -> {
                    Tenant tenant = Tenant.of(word(words, 1, words.length));
                    nodes(words, 2, id -> enrol(id, Member.engine(tenant)));
                }
                case "behind" -> {
                    String word = word(words, 1, words.length);
                    boolean newer = word.endsWith("+");
                    String[] ids = (newer ? word.substring(0, word.length() - 1) : word).split("/", -1);
                    require(ids.length <= 2, "more than two object ids");
                    ObjectId since = id(ids[0]);
                    ObjectId from = id(ids[ids.length - 1]);
                    nodes(words, 2, id -> members.put(id, member(id).behind(since, from, newer)));
                }
                case "witness" ->
                    members.put(
                            node(word(words, 1, 3)), member(words[1]).witness(Long.parseUnsignedLong(words[2], 16)));
                case "ssd" ->
                    members.put(
                            node(word(words, 1, 3)),
                            member(words[1]).withFailedSsd(Long.parseUnsignedLong(words[2], 16)));
                case "drain" -> drain(words);
                default -> throw new RegisterException("line " + number + " says nothing that this build knows");
            }
        }

        private interface EachWord {
            void word(String word) throws RegisterException;
        }

        private void nodes(String[] words, int from, EachWord each) throws RegisterException {
            words(words, from, id -> each.word(node(id)));
        }

        private void words(String[] words, int from, EachWord each) throws RegisterException {
            require(words.length > from + 1, "a line without nodes");
            String prefix = words[from].equals(NO_PREFIX) ? "" : words[from];
            for (int i = from + 1; i < words.length; i++) {
                each.word(prefix + words[i]);
            }
        }

        private void storageNode(String word) throws RegisterException {
            String[] parts = word.split(PART, -1);
            require(parts.length <= 3, "a node with too many numbers");
            long memory = parts.length > 1 ? Long.parseUnsignedLong(parts[1], 16) : Member.NO_MEMORY;
            long ssd = parts.length > 2 ? Long.parseUnsignedLong(parts[2], 16) : Member.NO_SSD;
            enrol(node(parts[0]), Member.storageNode().in(memory, ssd));
        }

        private void enrol(String id, Member member) throws RegisterException {
            require(members.size() < MEMBERS_MAX, "more than " + MEMBERS_MAX + " members");
            members.put(id, member);
        }

        private Member member(String id) throws RegisterException {
            Member member = members.get(id);
            require(member != null, "node " + id + " is no member");
            return member;
        }

        private void drain(String[] words) throws RegisterException {
            DrainEntry drain = new DrainEntry(
                    DrainEntry.Stage.valueOf(word(words, 2, 9)),
                    Long.parseUnsignedLong(words[3], 16),
                    Long.parseLong(words[4]),
                    Long.parseLong(words[5]),
                    Long.parseLong(words[6]),
                    Long.parseLong(words[7]),
                    Boolean.parseBoolean(words[8]));
            require(drain.leftMs() >= 0 && drain.objectsMoved() >= 0 && drain.bytesMoved() >= 0, "a length below 0");
            drains.put(node(words[1]), drain);
        }

        private static String word(String[] words, int at, int count) throws RegisterException {
            require(words.length == count && at < count, "a line with too few or too many words");
            return words[at];
        }

        private static String node(String id) throws RegisterException {
            require(isId(id), "a node id that is none");
            return id;
        }

        private static ObjectId id(String word) throws RegisterException {
            int dot = word.indexOf('.');
            require(dot > 0, "two numbers with a dot between them are missing");
            return new ObjectId(
                    Long.parseUnsignedLong(word.substring(0, dot)), Long.parseUnsignedLong(word.substring(dot + 1)));
        }
    }
}
