// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.version;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.kvpool.nativelib.NativeVersions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What code of other projects is inside libkvpool, where nothing of the file tells it.
 *
 * @param license an SPDX expression
 */
record LinkedCode(String name, String version, String license) {

    /** In the order of the library's bill of materials. */
    static List<LinkedCode> ofThisBuild() {
        return read(NativeVersions.sbom());
    }

    static List<LinkedCode> read(String sbom) {
        try {
            List<LinkedCode> all = new ArrayList<>();
            for (JsonNode component : new ObjectMapper().readTree(sbom).path("components")) {
                all.add(new LinkedCode(
                        component.path("name").asText(),
                        component.path("version").asText(),
                        component.path("licenses").path(0).path("expression").asText()));
            }
            return List.copyOf(all);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("libkvpool's bill of materials is no JSON", e);
        }
    }

    static ArrayNode json(List<LinkedCode> all) {
        ArrayNode array = JsonNodeFactory.instance.arrayNode();
        all.forEach(one -> array.addObject()
                .put("name", one.name)
                .put("version", one.version)
                .put("license", one.license));
        return array;
    }

    static String text(List<LinkedCode> all) {
        return all.stream()
                .map(one -> one.name + " " + one.version + " (" + one.license + ")")
                .collect(Collectors.joining(", ", "linked in: ", ""));
    }
}
