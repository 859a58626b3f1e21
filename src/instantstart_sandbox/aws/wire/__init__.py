"""The AWS wire, read from botocore's own service models: requests in, answers and errors out."""
