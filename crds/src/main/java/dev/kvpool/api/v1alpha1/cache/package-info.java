// SPDX-License-Identifier: Apache-2.0
/** What a pool does with objects: copies, eviction, pins, repair, consistency. */
package dev.kvpool.api.v1alpha1.cache;
