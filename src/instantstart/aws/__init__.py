"""AWS over boto3's core: clients, errors as problems, one thin module per service. Knows no nouns of the product."""
