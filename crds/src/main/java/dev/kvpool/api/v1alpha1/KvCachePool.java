// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Categories;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Singular;
import io.fabric8.kubernetes.model.annotation.Version;

/**
 * A KV-cache pool: masters that know where every object is, and storage nodes that hold the bytes.
 *
 * <p>The name of a pool becomes part of the names of its children, so it must be a DNS label of at most
 * {@value #NAME_LENGTH_MAX} characters that starts with a letter. With the longest set name a StatefulSet's name then
 * has 51 characters, and Kubernetes still has room for the revision hash it appends in a 63 character label.
 */
@JsonClassDescription(
        "A KV-cache pool: masters that know where every object is, and storage nodes that hold the bytes.")
@Group(ApiGroup.GROUP)
@Version(ApiGroup.VERSION)
@Kind(KvCachePool.KIND)
@Singular("kvcachepool")
@Plural("kvcachepools")
@ShortNames("kvp")
@Categories({"kvpool", "ai"})
@AdditionalPrinterColumn(name = "Phase", jsonPath = ".status.phase", type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
        name = "Storage",
        jsonPath = ".status.storage.summary",
        type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(name = "Leader", jsonPath = ".status.leader.pod", type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(name = "Capacity", jsonPath = ".status.capacity", type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(name = "Used", jsonPath = ".status.used", type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
        name = "Version",
        jsonPath = ".status.version.running",
        type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(
        name = "Age",
        jsonPath = ".metadata.creationTimestamp",
        type = AdditionalPrinterColumn.Type.DATE)
@AdditionalPrinterColumn(
        name = "Epoch",
        jsonPath = ".status.leader.epoch",
        type = AdditionalPrinterColumn.Type.INTEGER,
        priority = 1)
@AdditionalPrinterColumn(
        name = "Masters",
        jsonPath = ".status.masters.summary",
        type = AdditionalPrinterColumn.Type.STRING,
        priority = 1)
@AdditionalPrinterColumn(
        name = "Objects",
        jsonPath = ".status.objects",
        type = AdditionalPrinterColumn.Type.INTEGER,
        priority = 1)
@AdditionalPrinterColumn(
        name = "Message",
        jsonPath = ".status.message",
        type = AdditionalPrinterColumn.Type.STRING,
        priority = 1)
@ValidationRule(
        value = "self.metadata.name.size() <= 30",
        message = "metadata.name: at most 30 characters, because the names of the pool's children are made from it")
@ValidationRule(
        value = "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
        message =
                "metadata.name: lower case letters, digits and '-', starting with a letter: Services have the name too")
public class KvCachePool extends CustomResource<KvCachePoolSpec, KvCachePoolStatus> implements Namespaced {
    public static final String KIND = "KvCachePool";

    private static final long serialVersionUID = 1L;

    public static final int NAME_LENGTH_MAX = 30;
}
