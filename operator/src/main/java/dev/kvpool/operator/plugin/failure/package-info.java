// SPDX-License-Identifier: Apache-2.0
/** Why a command did not work, in sentences for the person who typed it. */
package dev.kvpool.operator.plugin.failure;
