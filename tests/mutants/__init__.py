"""Small faults put into the code one by one: which of them does no test find?"""
