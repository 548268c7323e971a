// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kvpool.operator.plugin.failure.Sentences;
import dev.kvpool.operator.plugin.plan.Differences;
import dev.kvpool.operator.plugin.plan.PlanView;
import dev.kvpool.operator.pool.naming.ObjectTitle;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.PoolObservation;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.net.HttpURLConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Finds which objects the operator would change, by having the API server apply them without keeping the result. */
public final class DryRun {
    private static final PatchContext AS_THE_OPERATOR = new PatchContext.Builder()
            .withPatchType(PatchType.SERVER_SIDE_APPLY)
            .withFieldManager(PoolLabels.OPERATOR)
            .withForce(true)
            .withDryRun(List.of("All"))
            .build();

    /** A Lease is renewed every other second; a command that meets that five times in a row says so. */
    private static final int TRIES = 5;

    private final KubernetesClient client;
    private final PoolObservation seen;

    public DryRun(KubernetesClient client, PoolObservation seen) {
        this.client = client;
        this.seen = seen;
    }

    /** A step for each object that is missing or would become different. */
    public List<PlanView.Step> changes(List<HasMetadata> objects) {
        List<PlanView.Step> steps = new ArrayList<>();
        objects.forEach(object -> change(object).ifPresent(steps::add));
        return steps;
    }

    private Optional<PlanView.Step> change(HasMetadata wanted) {
        String title = ObjectTitle.of(wanted);
        Optional<HasMetadata> actual = seen.children().stream()
                .filter(known -> ObjectTitle.of(known).equals(title))
                .findFirst();
        if (actual.isEmpty()) {
            return Optional.of(new PlanView.Step("create", title, List.of()));
        }
        try {
            List<String> fields = changedFields(wanted, actual.get());
            return fields.isEmpty() ? Optional.empty() : Optional.of(new PlanView.Step("change", title, fields));
        } catch (KubernetesClientException e) {
            return Optional.of(new PlanView.Step("may change", title, List.of(Sentences.of(e))));
        }
    }

    /** Compares with the very version that the change is applied to, so that what others change meanwhile is not taken for it. */
    private List<String> changedFields(HasMetadata wanted, HasMetadata seenBefore) {
        HasMetadata before = seenBefore;
        for (int tried = 1; ; tried++) {
            HasMetadata asked = client.getKubernetesSerialization().clone(wanted);
            asked.getMetadata().setResourceVersion(before.getMetadata().getResourceVersion());
            try {
                return Differences.between(
                        tree(before), tree(client.resource(asked).patch(AS_THE_OPERATOR, asked)));
            } catch (KubernetesClientException e) {
                if (e.getCode() != HttpURLConnection.HTTP_CONFLICT || tried == TRIES) {
                    throw e;
                }
                before = client.resource(wanted).require();
            }
        }
    }

    private JsonNode tree(HasMetadata object) {
        return client.getKubernetesSerialization().convertValue(object, JsonNode.class);
    }
}
