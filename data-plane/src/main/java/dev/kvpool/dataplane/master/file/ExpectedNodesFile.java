// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.file;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The nodes that should be there, one per line as {@code ID} or {@code ID ZONE}, in a file that its owner may replace at any
 * time. The zone is where the node is said to be; nodes of one zone may fail together.
 */
public final class ExpectedNodesFile {
    private static final long BYTES_MAX = 4 << 20;
    private static final Pattern BLANKS = Pattern.compile("\\s+");

    /** As a label's value in Kubernetes. */
    private static final Pattern ZONE = Pattern.compile("[A-Za-z0-9]([-._A-Za-z0-9]{0,61}[A-Za-z0-9])?");

    private final Path file;
    private Map<String, String> last;

    public ExpectedNodesFile(Path file) {
        this.file = file;
    }

    /**
     * Reads the file; blank lines and lines that begin with # do not count.
     *
     * @return zones by node id, an empty one where none is named
     * @throws IOException when the file cannot be read or a line is wrong; the message names it
     */
    public Map<String, String> read() throws IOException {
        if (Files.size(file) > BYTES_MAX) {
            throw new IOException("the file of expected nodes " + file + " is larger than " + BYTES_MAX + " bytes");
        }
        try {
            Map<String, String> zones = new LinkedHashMap<>();
            int number = 0;
            for (String line : Files.readAllLines(file)) {
                number++;
                String text = line.strip();
                if (!text.isEmpty() && !text.startsWith("#")) {
                    add(text, number, zones);
                }
            }
            last = zones;
            return zones;
        } catch (CharacterCodingException e) {
            throw new IOException("the file of expected nodes " + file + " is not UTF-8", e);
        }
    }

    private void add(String line, int number, Map<String, String> zones) throws IOException {
        String[] words = BLANKS.split(line, -1);
        String zone = words.length == 2 ? words[1] : "";
        if (words.length > 2) {
            throw wrong(number, "has " + words.length + " words, but is ID or ID ZONE");
        }
        if (words.length == 2 && !ZONE.matcher(zone).matches()) {
            throw wrong(
                    number,
                    "names a zone that is not 1 to 63 letters, digits, '-', '.' and '_' with a letter or digit at both"
                            + " ends");
        }
        if (zones.containsKey(words[0]) && !zones.get(words[0]).equals(zone)) {
            throw wrong(number, "names node " + words[0] + " again with another zone");
        }
        zones.put(words[0], zone);
    }

    private IOException wrong(int number, String what) {
        return new IOException("line " + number + " of the file of expected nodes " + file + " " + what);
    }

    /** Reads the file again; what it says when that differs from before. */
    public Optional<Map<String, String>> readIfChanged() throws IOException {
        Map<String, String> before = last;
        Map<String, String> now = read();
        return now.equals(before) ? Optional.empty() : Optional.of(now);
    }
}
