// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.memory;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import io.fabric8.kubernetes.api.model.FieldsV1;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * Reads the lists of managed fields so that objects share equal parts of them. With many pools these trees, the same in each pool,
 * would be most of what the informers' caches hold; the comparison of server-side apply needs them. They cannot be changed.
 */
public final class SharedFields extends StdDeserializer<FieldsV1> {
    private static final long serialVersionUID = 1L;

    /** Deeper than any kind of Kubernetes has them. */
    private static final int DEPTH_MAX = 64;

    private final transient Map<Map<String, Object>, WeakReference<Map<String, Object>>> known = new WeakHashMap<>();

    private SharedFields() {
        super(FieldsV1.class);
    }

    /** For the mapper by which a client reads objects. */
    public static SimpleModule module() {
        return new SimpleModule("shared-managed-fields").addDeserializer(FieldsV1.class, new SharedFields());
    }

    @Override
    public FieldsV1 deserialize(JsonParser parser, DeserializationContext context) throws IOException {
        FieldsV1 fields = new FieldsV1();
        fields.setAdditionalProperties(tree(parser, DEPTH_MAX));
        return fields;
    }

    private Map<String, Object> tree(JsonParser parser, int depth) throws IOException {
        if (depth == 0 || parser.currentToken() != JsonToken.START_OBJECT) {
            throw JsonMappingException.from(
                    parser, "managed fields are not objects within objects, at most " + DEPTH_MAX + " deep");
        }
        Map<String, Object> children = new HashMap<>();
        for (String name = parser.nextFieldName(); name != null; name = parser.nextFieldName()) {
            parser.nextToken();
            children.put(name, tree(parser, depth - 1));
        }
        return shared(Map.copyOf(children));
    }

    private synchronized Map<String, Object> shared(Map<String, Object> tree) {
        WeakReference<Map<String, Object>> equal = known.get(tree);
        Map<String, Object> found = equal == null ? null : equal.get();
        if (found != null) {
            return found;
        }
        known.put(tree, new WeakReference<>(tree));
        return tree;
    }
}
