# SPDX-License-Identifier: Apache-2.0
FROM scratch
COPY pause /pause
CMD ["/pause"]
