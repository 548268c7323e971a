// SPDX-License-Identifier: Apache-2.0
/** What the operator would do ({@code plan}), of its own planning. */
package dev.kvpool.operator.plugin.plan;
