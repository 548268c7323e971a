// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Categories;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Singular;
import io.fabric8.kubernetes.model.annotation.Version;

/** How bytes move between clients and the storage nodes of the pools that name this engine. */
@JsonClassDescription("How bytes move between clients and the storage nodes of the pools that name this engine.")
@Group(ApiGroup.GROUP)
@Version(ApiGroup.VERSION)
@Kind(TransferEngine.KIND)
@Singular("transferengine")
@Plural("transferengines")
@ShortNames("te")
@Categories({"kvpool", "ai"})
@AdditionalPrinterColumn(
        name = "Ready",
        jsonPath = ".status.conditions[?(@.type==\"Ready\")].status",
        type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(name = "Protocols", jsonPath = ".spec.protocols", type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(name = "Nodes", jsonPath = ".status.nodes.summary", type = AdditionalPrinterColumn.Type.STRING)
@AdditionalPrinterColumn(name = "Pools", jsonPath = ".status.poolCount", type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(
        name = "Age",
        jsonPath = ".metadata.creationTimestamp",
        type = AdditionalPrinterColumn.Type.DATE)
@AdditionalPrinterColumn(
        name = "Message",
        jsonPath = ".status.message",
        type = AdditionalPrinterColumn.Type.STRING,
        priority = 1)
public class TransferEngine extends CustomResource<TransferEngineSpec, TransferEngineStatus> implements Namespaced {
    public static final String KIND = "TransferEngine";

    private static final long serialVersionUID = 1L;
}
