def schedule(code, graph, depths, limit):
    return code
