// SPDX-License-Identifier: Apache-2.0
/** What the operator observed, part by part of a status. */
package dev.kvpool.api.v1alpha1.status;
