// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator;

import java.lang.reflect.RecordComponent;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;

/** A record of many components of which a test names some: the others are as in another one. */
public final class Altered<R extends Record> {
    /** Random models make very many. */
    private static final ClassValue<RecordComponent[]> COMPONENTS = new ClassValue<>() {
        @Override
        protected RecordComponent[] computeValue(Class<?> type) {
            return type.getRecordComponents();
        }
    };

    private final Class<R> type;
    private final Map<String, Object> values = new LinkedHashMap<>();

    @SuppressWarnings("unchecked")
    private Altered(R record) {
        this.type = (Class<R>) record.getClass();
        for (RecordComponent component : COMPONENTS.get(type)) {
            try {
                values.put(component.getName(), component.getAccessor().invoke(record));
            } catch (ReflectiveOperationException e) {
                throw new LinkageError(e.getMessage(), e);
            }
        }
    }

    public static <R extends Record> Altered<R> of(R record) {
        return new Altered<>(record);
    }

    /**
     * Names a part.
     *
     * @param component of the record, or of a record that is one of its components
     */
    public Altered<R> with(String component, Object value) {
        if (values.containsKey(component)) {
            values.put(component, value);
            return this;
        }
        Map.Entry<String, Object> part = values.entrySet().stream()
                .filter(entry -> entry.getValue() instanceof Record inner
                        && Stream.of(COMPONENTS.get(inner.getClass()))
                                .anyMatch(it -> it.getName().equals(component)))
                .findFirst()
                .orElseThrow(() -> new AssertionError("%s has no %s".formatted(type, component)));
        part.setValue(of((Record) part.getValue()).with(component, value).build());
        return this;
    }

    public R build() {
        Class<?>[] types =
                Stream.of(COMPONENTS.get(type)).map(RecordComponent::getType).toArray(Class<?>[]::new);
        try {
            return type.getConstructor(types).newInstance(values.values().toArray());
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }
}
