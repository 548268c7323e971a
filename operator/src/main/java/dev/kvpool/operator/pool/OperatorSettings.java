// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

/**
 * What the operator was installed with.
 *
 * @param image image of masters and storage nodes for pools that name none
 * @param version product version of that image
 * @param namespace the operator's own namespace, from which it asks masters
 */
public record OperatorSettings(String image, String version, String namespace) {}
