// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.output;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Values of the API's enums, as they are written in YAML. Pure. */
public final class Words {
    private Words() {}

    public static String of(Enum<?> value) {
        try {
            JsonProperty written =
                    value.getDeclaringClass().getField(value.name()).getAnnotation(JsonProperty.class);
            return written == null ? value.name() : written.value();
        } catch (NoSuchFieldException e) {
            throw new IllegalStateException(e);
        }
    }
}
