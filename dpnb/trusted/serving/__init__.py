"""The curator as a service: the same curator, which checks who is asking.

An owner starts it (``dpnb serve``) as another user than any analyst's, names the datasets that it holds, and issues tokens. No
message of a service names a file, a schema or a budget; who asks is decided on the headers of each request, before a body is read.
"""
