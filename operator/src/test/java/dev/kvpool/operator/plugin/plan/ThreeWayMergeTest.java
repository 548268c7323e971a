// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.plan;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The patches that kubectl apply makes of the file applied last, the file, and the object. */
class ThreeWayMergeTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{}                    | {'a': 1}              | {'a': 1}                  | {}",
                "{'a': 1}              | {'a': 2}              | {'a': 3}                  | {'a': 2}",
                "{'a': 1}              | {}                    | {'a': 1}                  | {'a': null}",
                "{'a': 1}              | {}                    | {}                        | {'a': null}",
                "{}                    | {}                    | {'a': 1}                  | {}",
                "{'a': {'b': 1}}       | {'a': {}}             | {'a': {'b': 1, 'c': 2}}   | {'a': {'b': null}}",
                "{'a': {'b': 1}}       | {'a': {'d': 3}}       | {'a': {'b': 1, 'c': 2}}   | {'a': {'d': 3, 'b': null}}",
                "{'a': {'b': 1}}       | {}                    | {'a': {'b': 1, 'c': 2}}   | {'a': null}",
                "{'a': [1, 2]}         | {'a': [1]}            | {'a': [1, 2, 3]}          | {'a': [1]}",
                "{'a': {'b': 1}}       | {'a': [1]}            | {'a': {'b': 1}}           | {'a': [1]}",
                "{}                    | {'a': null}           | {'a': 1}                  | {'a': null}",
                "{}                    | {'a': {'b': null}}    | {'a': {'b': 1, 'c': 2}}   | {'a': {'b': null}}",
                "{'a': null}           | {'a': null}           | {'a': 1}                  | {}",
                "{'a': 1}              | {'a': null}           | {'a': 1}                  | {'a': null}",
                "{}                    | {'a': {'b': {}}}      | {}                        | {'a': {'b': {}}}",
            })
    void thePatchIs(String before, String wanted, String actual, String patch) throws JsonProcessingException {
        assertThat(ThreeWayMerge.patch(tree(before), tree(wanted), tree(actual)))
                .isEqualTo(tree(patch));
    }

    private static ObjectNode tree(String text) throws JsonProcessingException {
        return (ObjectNode) JSON.readTree(text.replace('\'', '"'));
    }
}
