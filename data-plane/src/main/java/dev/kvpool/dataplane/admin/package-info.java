// SPDX-License-Identifier: Apache-2.0
/** The HTTP and JSON of a master, for the operator and for people. */
package dev.kvpool.dataplane.admin;
