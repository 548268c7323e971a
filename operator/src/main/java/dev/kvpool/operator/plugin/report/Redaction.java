// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.report;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import java.util.regex.Pattern;

/** Takes out of a support bundle what is not needed to help. Pure. */
public final class Redaction {
    private static final String REPLACED = "REDACTED";
    private static final KubernetesSerialization YAML = new KubernetesSerialization();

    /** Variables of which we know what is in them; the values of all others go. */
    private static final Pattern KNOWN_VARIABLE = Pattern.compile("(KVPOOL|MOONCAKE|POD|NODE)_[A-Z_]+|PYTHONHASHSEED");

    private static final Pattern PRIVATE_KEY = Pattern.compile(
            "-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|\\z)", Pattern.DOTALL);

    private static final Pattern BEARER = Pattern.compile("(?i)(bearer|basic)\\s+[A-Za-z0-9._~+/=-]{8,}");
    private static final Pattern JSON_WEB_TOKEN =
            Pattern.compile("eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]*");
    private static final Pattern IN_URL = Pattern.compile("(?<=://)[^/@\\s:]+:[^/@\\s]+(?=@)");

    private static final Pattern ASSIGNED = Pattern.compile(
            "(?i)((?:password|passwd|secret|token|api[_-]?key|access[_-]?key|credential)s?[\"']?\\s*[=:]\\s*[\"']?)[^\\s\"',;}]+");

    /** Keys of objects, as messages name them. */
    private static final Pattern OBJECT_KEY = Pattern.compile("(?i)(\\b(?:object )?key[=: ]\\s*)(['\"]).*?\\2");

    private Redaction() {}

    /** Objects of Kubernetes, without what only their history needs, and without the values of foreign variables. */
    public static String yaml(List<? extends HasMetadata> objects) {
        StringBuilder text = new StringBuilder();
        for (HasMetadata object : objects) {
            if (object.getKind().equals("Secret")) {
                continue;
            }
            JsonNode tree = YAML.convertValue(object, JsonNode.class);
            JsonNode metadata = tree.path("metadata");
            if (metadata instanceof ObjectNode fields) {
                fields.remove("managedFields");
                if (fields.path("annotations") instanceof ObjectNode annotations) {
                    annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
                }
            }
            redactVariables(tree);
            text.append(YAML.asYaml(tree));
        }
        return text.toString();
    }

    /** Any text. */
    public static String text(String text) {
        String redacted = PRIVATE_KEY.matcher(text).replaceAll(REPLACED);
        redacted = JSON_WEB_TOKEN.matcher(redacted).replaceAll(REPLACED);
        redacted = BEARER.matcher(redacted).replaceAll("$1 " + REPLACED);
        redacted = IN_URL.matcher(redacted).replaceAll(REPLACED);
        redacted = OBJECT_KEY.matcher(redacted).replaceAll("$1" + REPLACED);
        return ASSIGNED.matcher(redacted).replaceAll("$1" + REPLACED);
    }

    /** Wherever a list {@code env} is: in pods, in templates of pods, in a TransferEngine. */
    private static void redactVariables(JsonNode node) {
        for (JsonNode variable : node.path("env")) {
            if (variable instanceof ObjectNode fields
                    && fields.hasNonNull("value")
                    && !KNOWN_VARIABLE.matcher(fields.path("name").asText()).matches()) {
                fields.put("value", REPLACED);
            }
        }
        node.forEach(Redaction::redactVariables);
    }
}
