"""One emulated Kubernetes API server for every simulated EKS cluster: storage, wire format, checks and sign-in.

Controllers live elsewhere and use `objects.KubeApi`; outside clients reach the same objects through `server.ApiServer`.
"""
