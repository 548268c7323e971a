// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.audit;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kvpool.dataplane.http.Caller;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.text.Quoted;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/**
 * What is written down of one request. The names of the fields stay.
 *
 * @param caller who made it; of an enrolment, who gets the certificate
 * @param verb method and path, or what a client asked for
 * @param tenant that is meant; empty where none is named
 * @param outcome done, failed, granted or refused
 * @param status of HTTP; {@link #NO_STATUS} on the data port
 * @param why of a refusal, where it is known; else empty
 */
record AuditLine(Caller caller, String verb, String tenant, String outcome, int status, String why) {
    static final int NO_STATUS = 0;

    private static final ObjectMapper JSON = new ObjectMapper();

    /**
     * As JSON on one line.
     *
     * @param dropped how many lines before it were not written
     */
    String text(Instant time, long dropped) {
        ObjectNode line = JSON.createObjectNode();
        line.put("time", time.truncatedTo(ChronoUnit.MILLIS).toString());
        optional(line, "principal", caller.name().map(PeerName::path));
        optional(line, "serial", Optional.of(caller.serial()));
        line.put("address", caller.address().getHostAddress());
        line.put("verb", Quoted.cut(verb));
        optional(line, "tenant", Optional.of(Quoted.cut(tenant)));
        line.put("outcome", outcome);
        if (status != NO_STATUS) {
            line.put("status", status);
        }
        optional(line, "why", Optional.of(Quoted.cut(why)));
        if (dropped > 0) {
            line.put("dropped", dropped);
        }
        return line.toString();
    }

    private static void optional(ObjectNode line, String name, Optional<String> value) {
        value.filter(text -> !text.isEmpty()).ifPresent(text -> line.put(name, text));
    }
}
