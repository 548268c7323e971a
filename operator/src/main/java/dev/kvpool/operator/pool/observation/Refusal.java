// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.observation;

import dev.kvpool.identity.text.Quoted;
import dev.kvpool.operator.pool.naming.ObjectTitle;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Why Kubernetes cannot create a pod, such as a quota, an admission webhook or a claim. Pure.
 *
 * @param workload title of what the pod is of
 * @param pod its name; empty where it gets one with each try, as of a DaemonSet: then it may be any that the workload lacks
 * @param why the end of a sentence
 */
public record Refusal(String workload, String pod, String why) {
    /** Controllers try again after 16 minutes at the latest. */
    private static final Duration FRESH = Duration.ofMinutes(20);

    /** Of many events that differ Kubernetes tells the last one so. */
    private static final Pattern COMBINED = Pattern.compile("^\\(combined from similar events\\): ");

    private static final Pattern PREFIX = Pattern.compile("^(?:create .{1,600}? failed error|Error creating): ");

    /** The controller of a StatefulSet names the pod also where it is the pod's claim that it creates. */
    private static final Pattern POD = Pattern.compile("^create (?:Claim \\S+ )?Pod (\\S+) in ");

    /**
     * What the controller of a workload says of one pod.
     *
     * @param of UID of the workload
     * @param created whether it was created, or could not be
     * @param note the text of the event
     * @param at when it was said last
     */
    public record Told(String of, boolean created, String note, Instant at) {
        String pod() {
            Matcher name = POD.matcher(COMBINED.matcher(note).replaceFirst(""));
            return name.find() ? name.group(1) : "";
        }

        private static Told later(Told one, Told other) {
            return other.at().isAfter(one.at()) ? other : one;
        }
    }

    /** What was said last of the pods of a workload: of one that has been created since, and not its claim alone, what kept it away is over. */
    public static List<Refusal> of(HasMetadata workload, List<Told> told, Instant now) {
        Map<String, Told> created = new HashMap<>();
        Map<String, Told> refused = new HashMap<>();
        told.stream()
                .filter(it -> it.of().equals(workload.getMetadata().getUid()))
                .filter(it -> !it.created() || !it.note().startsWith("create Claim "))
                .forEach(it -> (it.created() ? created : refused).merge(it.pod(), it, Told::later));
        return refused.entrySet().stream()
                .filter(it -> Duration.between(it.getValue().at(), now).compareTo(FRESH) < 0)
                .filter(it -> Optional.ofNullable(created.get(it.getKey()))
                        .filter(since -> !it.getValue().at().isAfter(since.at()))
                        .isEmpty())
                .sorted(Map.Entry.comparingByKey())
                .map(it -> new Refusal(
                        ObjectTitle.of(workload),
                        it.getKey(),
                        why(it.getValue().note(), workload.getMetadata().getName())))
                .toList();
    }

    /** A name that is another one with each try would change what conditions say as often. */
    private static String why(String note, String workload) {
        String why = PREFIX.matcher(COMBINED.matcher(note).replaceFirst("")).replaceFirst("");
        return Quoted.cut(why.replaceAll("\\b" + Pattern.quote(workload) + "-[a-z0-9]{5}\\b", workload + "-*")
                .strip());
    }
}
