// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.command;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.PrintWriter;
import picocli.CommandLine.Option;

/** How an answer is written: for people, or for programs. */
public final class OutputOptions {
    /** For programs. */
    enum Format {
        json,
        yaml
    }

    @Option(
            names = {"-o", "--output"},
            paramLabel = "json|yaml",
            description = "Write the answer for programs.")
    private Format format;

    /**
     * Writes an answer.
     *
     * @param view what programs get
     * @param text what people get
     */
    public void write(PrintWriter out, Object view, String text) {
        out.print(
                format == null
                        ? text
                        : format == Format.json ? json(view) : new KubernetesSerialization().asYaml(view));
        out.flush();
    }

    private static String json(Object view) {
        ObjectMapper mapper = new ObjectMapper()
                .setDefaultPropertyInclusion(JsonInclude.Include.NON_NULL)
                .enable(SerializationFeature.INDENT_OUTPUT);
        try {
            return mapper.writeValueAsString(view) + "\n";
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }
}
